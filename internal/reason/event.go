package reason

// These say what an event of an instance, a budget or an exception was.
var (
	GoneUnnoticed  = none("gone_unnoticed", "reclaimed without a notice, or terminated or untagged by hand")
	ReclaimedAt    = one[Instant]("reclaimed_at", Info, "Tencent Cloud reclaims it at {at}", "")
	NotReclaimedAt = one[Instant]("not_reclaimed_at", Info, "not reclaimed at {at}", "")
	PodsBlocked    = none("pods_blocked", "new GPU pods are blocked")
	InForceUntil   = two[Instant, Foreign]("in_force_until", Info, "until {until} by {actor}", "")
)
