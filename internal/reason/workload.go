package reason

// These keep a workload from being paused.
var (
	OwnerUnknown     = none("owner_unknown", "its owner is unknown")
	OwnerNotPaused   = one[Reason]("owner_not_paused", Info, "its owner cannot be paused: {why}", "")
	OwnerNotSelects  = one[Workload]("owner_not_selects", Info, "it names the {owner} as its owner, which does not select it", "")
	ControlledBy     = two[Word, Value]("controlled_by", Info, "the {kind} {name} controls it, and would undo it", "")
	ManagedBy        = one[Value]("managed_by", Info, "the controller {controller} manages it", "")
	QueuedByKueue    = one[Value]("queued_by_kueue", Info, "Kueue suspends and starts it (queue {queue})", "")
	ScaledFromZero   = one[Value]("scaled_from_zero", Info, "the HorizontalPodAutoscaler {name} scales it from zero, and would undo it", "")
	VolumesDeleted   = none("volumes_deleted", "its persistentVolumeClaimRetentionPolicy.whenScaled is Delete: scaled to zero, it would lose its volumes")
	CronJobForbidden = one[Foreign]("cron_job_forbidden", Info, "{error}", "Apply the manifests again")
)
