package reason

// Why a spot pool launches.
var (
	BelowMinimum    = two[Count, Count]("below_minimum", Info, "capacity {capacity} is below minimum {minimum}", "")
	BelowMinimumBut = three[Count, Clauses, Count]("below_minimum_but", Info, "capacity {capacity}, {but}, is below minimum {minimum}", "")
	AsReclaimed     = one[Reason]("as_reclaimed", Info, "as {reclaim}", "")
	MoreRequested   = one[Count]("more_requested", Info, "with {instances} more requested", "")
	ToBeTerminated  = one[Count]("to_be_terminated", Info, "less {instances} to be terminated", "")
	UnknownOutcome  = two[Count, Instant]("unknown_outcome", Info,
		"launch {sequence} of {written_at} has an unknown outcome: the same request returns the same instances", "")
	OnDemandBase = one[Count]("on_demand_base", Info, "the on-demand base is {on_demand_base}", "")
	NoSpotSince  = two[Instant, Duration]("no_spot_since", Info, "no spot instance was available since {since}, for longer than {after}", "")
	PriceEach    = one[Price]("price_each", Info, "{price} an hour each", "")
	LastResort   = one[Reason]("last_resort", Info, "no other offering can launch, so this one does despite its cooldown: {cooldown}", "")

	OfferingsSkipped = one[Some]("offerings_skipped", Info, "skipped {offerings}", "")
	// OfferingSkipped names the charge type, and the offering.
	OfferingSkipped = three[Word, Word, Reason]("offering_skipped", Info, "{charge_type} {offering}: {why}", "")
	OfferingAvoided = two[Word, Reason]("offering_avoided", Info, "{offering}: {why}", "")
	// Cooldown has the cause, and its detail if there is one.
	Cooldown         = two[Word, Instant]("cooldown", Info, "{cause}, cooling down until {until}", "")
	CooldownDetailed = three[Word, Word, Instant]("cooldown_detailed", Info, "{cause} ({detail}), cooling down until {until}", "")
)

// Why a spot pool replaces an instance.
var (
	DriftedConfiguration = none("drifted_configuration", "drifted configuration")
	SpotAvailable        = none("spot_available", "spot instances are available again")
	LaunchedFirst        = two[Names, Reason]("launched_first", Info, "launched before terminating {instances}: {reason}", "")
	NeverJoined          = one[Duration]("never_joined", Info, "it never became a Ready node within the {join_timeout} of join_timeout", "")
	NodeUnready          = two[Node, Duration]("node_unready", Info,
		"its node {node} has not been Ready for longer than the {unhealthy_timeout} of unhealthy_timeout", "")
	NeedsReplacement = two[Word, Reason]("needs_replacement", Info, "{instance} needs a replacement: {why}", "")
	ReplacingResumed = one[Instant]("replacing_resumed", Info, "failing nodes are replaced again, which was suspended since {since}", "")
	Replaced         = one[Reason]("replaced", Info, "replaced: {why}", "")
)

// Why replacing is suspended, or waits.
var (
	FailedInARow        = one[Count]("failed_in_a_row", Warning, "{instances} instances in a row failed before they had worked for an hour", "")
	NodesFail           = two[Count, Count]("nodes_fail", Warning, "{failed} of the pool's {nodes} nodes fail at once", "")
	ClusterNodesFail    = two[Count, Count]("cluster_nodes_fail", Warning, "{failed} of the {nodes} nodes that all pools have in the cluster fail at once", "")
	NodesUnready        = two[Count, Count]("nodes_unready", Info, "{unready} of the pool's {nodes} nodes are not Ready", "")
	ClusterNodesUnready = two[Count, Count]("cluster_nodes_unready", Info,
		"{unready} of the {nodes} nodes that all pools have in the cluster are not Ready", "")
)

// Why a spot pool terminates an instance, and why this one.
var (
	AboveMaximum = two[Count, Count]("above_maximum", Info, "total {total} is above maximum {maximum}", "")
	NoneDesired  = none("none_desired", "no instances are desired")
	Isolated     = none("isolated", "isolated by Tencent Cloud, and its replacement needs the room")
	SurplusOver  = three[Count, Count, Duration]("surplus_over", Info,
		"{instances} above the {baseline} that the pool keeps, left by replacements, for longer than surplus_after of {surplus_after}", "")
	BudgetExceededForLong = three[Object, Instant, Duration]("budget_exceeded_for_long", Warning,
		"{budget} has been exceeded for certain since {since}, for longer than the {budget_grace_period} of budget_grace_period", "")
	MoreEndLater = two[Count, Count]("more_end_later", Info,
		"{instances} more above maximum {maximum} can be terminated once they no longer start or stop", "")
	MoreEndLaterDrained = one[Count]("more_end_later_drained", Info,
		"{instances} more of a pool that is drained can be terminated once they no longer start or stop", "")

	Chosen         = one[Some]("chosen", Info, "chosen: {instances}", "")
	ChosenInstance = two[Word, Facts]("chosen_instance", Info, "{instance} ({facts})", "")
	OfOffering     = two[Word, Word]("of_offering", Info, "{charge_type} {offering}", "")
	EndRequested   = none("end_requested", "its end was asked for before")
	InCondition    = one[Word]("in_condition", Info, "{condition}", "")
	NoGPUPods      = none("no_gpu_pods", "no GPU pods")
	Drifted        = none("drifted", "drifted")
	Costs          = one[Price]("costs", Info, "{price} an hour", "")
	LaunchedAt     = one[Instant]("launched_at", Info, "launched {at}", "")
)

// Drains of nodes, and what follows.
var (
	DrainingSince = two[Instant, Count]("draining_since", Info, "draining since {since}, {pods} {pods:pod|pods} left", "")
	DrainPhase    = two[Node, Word]("drain_phase", Info, "{node}: {phase}", "")
	DrainLeft     = three[Node, Word, Count]("drain_left", Info, "{node}: {phase}, {pods} {pods:pod|pods} left", "")
	PodsLeft      = one[Count]("pods_left", Info, "{pods} {pods:pod was|pods were} left", "")
	// PodBlocked says why a pod is left.
	PodBlocked  = one[Foreign]("pod_blocked", Info, "{why}", "")
	PodsReached = three[Instant, Count, Count]("pods_reached", Info, "pods deleted by {at}: {deleted} of {pods}", "")
	EndRefused  = two[Word, Instant]("end_refused", Info,
		"Tencent Cloud refused to terminate {instance} at {at}; this is retried an hour later, or by the next apply", "")
	KeptEndRefused     = none("kept_end_refused", "Tencent Cloud refused to terminate its instance")
	KeptTimedOut       = none("kept_timed_out", "its drain timed out, and drain.on_timeout keeps it")
	NotTerminated      = none("not_terminated", "its instance is no longer to be terminated")
	NotOfPool          = none("not_of_pool", "its instance is no longer the pool's")
	UsedByOther        = none("used_by_other", "its instance is gone, and another machine uses it")
	InstanceGone       = none("instance_gone", "two observations a minute apart showed that its instance is gone")
	TokensUnused       = none("tokens_unused", "the pool no longer uses bootstrap tokens")
	TokenExpired       = one[Instant]("token_expired", Info, "it expired at {at}", "")
	LaunchedNothing    = one[Count]("launched_nothing", Info, "launch {sequence} launched nothing", "")
	JoinedOrTerminated = one[Names]("joined_or_terminated", Info, "{instances} joined, or terminated", "")
)

// The ends of instances that the pool did not terminate.
var (
	Ended           = three[Names, Word, Reason]("ended", Info, "{instances} ({offering}) {instances:is|are} {how}", "")
	EndedAsNoticed  = one[Word]("ended_as_noticed", Info, "{state}: reclaimed by Tencent Cloud, as its interruption notice announced", "")
	EndedElsewhere  = one[Word]("ended_elsewhere", Info, "{state}: reclaimed by Tencent Cloud, or terminated by hand", "")
	GoneAsNoticed   = none("gone_as_noticed", "gone: reclaimed by Tencent Cloud, as its interruption notice announced")
	GoneElsewhere   = none("gone_elsewhere", "gone: reclaimed by Tencent Cloud, or terminated or untagged by hand")
	LaunchFailed    = one[Foreign]("launch_failed", Info, "LAUNCH_FAILED: {error}", "")
	LaunchFailedFor = none("launch_failed_without_reason", "LAUNCH_FAILED: Tencent Cloud gave no reason")
	PriceWas        = one[Price]("price_was", Info, "it was {price}", "")
	KeepsRunning    = none("keeps_running", "it keeps running without the pool")
	InstanceIsGone  = none("instance_is_gone", "its instance is gone")
	// InterruptionNotice names the instance, and its market.
	InterruptionNotice = three[Word, Word, Instant]("interruption_notice", Info,
		"interruption notice: Tencent Cloud reclaims {instance} ({offering}) at {at}", "")
	CreationResumed = one[Count]("creation_resumed", Info, "resumes an interrupted creation: has {instances}", "")
)
