package reason

// How much of a budget is used, and what follows.
var (
	Used = three[Amount, Amount, Count]("used", Info, "{used} of {limit} GPU-hours are used ({percent}%)", "")
	// UsedSince has the time from which on the limit was reached.
	UsedSince = four[Amount, Amount, Count, Instant]("used_since", Info, "{used} of {limit} GPU-hours are used ({percent}%) since {since}", "")
	InUse     = two[Count, Amount]("in_use", Info, "{pods} {pods:pod holds|pods hold} {gpus} {gpus:GPU|GPUs} now", "")
	UsedUpBy  = three[Count, Amount, Instant]("used_up_by", Info,
		"{pods} {pods:pod holds|pods hold} {gpus} {gpus:GPU|GPUs} now, which uses up the rest by {at}", "")
	PeriodEnds      = one[Instant]("period_ends", Info, "its period ends at {at}, and usage starts again from zero", "")
	Recovers        = one[Instant]("recovers", Info, "it recovers by itself at {at} if nothing more is used", "")
	AlertOnly       = none("alert_only", "its enforcement is alert_only, so nothing else is done")
	GraceLasts      = two[Instant, Word]("grace_lasts", Info, "its grace period lasts until {until}, and then its enforcement is {action}", "")
	GraceOver       = one[Word]("grace_over", Info, "its grace period is over, and its enforcement is {action}", "")
	GraceEnded      = two[Duration, Instant]("grace_ended", Info, "the grace period of {grace_period} ended at {at}", "")
	BelowLimit      = one[Reason]("below_limit", Info, "usage is below the limit: {used}", "")
	OtherAction     = one[Word]("other_action", Info, "its enforcement is {action} now", "")
	NoLongerMatched = none("no_longer_matched", "the budget's selector no longer matches its pods")
)

const acceptLoss = "Restore the ledger's documents from a copy, or continue without them: gpupool reconcile --accept-loss REASON"

// Why a budget does nothing destructive, or lifts nothing: its usage is not known well enough.
var (
	EndsLost      = one[Foreign]("ends_lost", Warning, "part of the ledger with the ends of pods is lost, {documents}", acceptLoss)
	UncertainLost = three[Amount, Amount, Foreign]("uncertain_by_loss", Warning,
		"{certain} of {limit} GPU-hours are certain, the rest is estimated, and part of the ledger is lost, {documents}", acceptLoss)
	UncertainGap = four[Amount, Amount, Duration, Duration]("uncertain_by_gap", Warning,
		"{certain} of {limit} GPU-hours are certain, the rest is estimated, and nothing was observed for {gap}, longer than max_gap {max_gap}", "")
	// Withheld has the participle of the action.
	Withheld      = two[Word, Reason]("withheld", Warning, "nothing is {done}: {why}", "{why}")
	NothingLifted = one[Reason]("nothing_lifted", Warning, "nothing in force is lifted: {why}", "{why}")
	UnknownByLoss = four[Foreign, Amount, Amount, Instant]("unknown_by_loss", Warning,
		"part of the ledger is lost ({documents}), and {used} of {limit} GPU-hours were used before, at {at}. "+
			"Whether usage fell since is unknown until the window is past the loss", acceptLoss+", or raise the limit above that usage")
	UnknownByMissing = three[Foreign, Reason, Amount]("unknown_by_missing", Warning,
		"part of the ledger is lost ({documents}): {used}. Up to {missing} GPU-hours more were counted before the loss, so that the limit may be reached",
		acceptLoss+", or raise the limit")
	UnknownBefore = two[Instant, Instant]("unknown_before", Warning,
		"the window begins at {begins}, and the ledger only at {known_since}: whether usage is below the limit is unknown until the ledger covers the window",
		"To lift what is in force before, declare a shorter window or the action alert_only, or run gpupool reconcile --accept-loss REASON")
	StatusLost = one[Foreign]("status_lost", Warning, "part of the ledger is lost ({documents}), and so was the last status", "")
)

// These make usage uncertain.
var (
	PartLost   = one[Foreign]("part_lost", Warning, "part of the ledger is lost, so usage may be higher: {document}", "")
	AcceptLoss = one[Reason]("accept_loss", Warning,
		"if the loss is accepted, only {used}: everything in force is lifted, and pools that name the budget launch",
		"To preview it: gpupool reconcile --accept-loss REASON --dry-run")
	Forgotten = two[Instant, Instant]("forgotten", Warning,
		"the window begins at {begins}, but usage that ended before {known_since} was already dropped when no window needed it: usage may be higher", "")
	Unconfirmed = one[Amount]("unconfirmed", Warning,
		"{unconfirmed} GPU-hours more are unconfirmed and do not count. Their pods are on nodes that were never observed, "+
			"or request more than any node has", "")
	UnconfirmedReach = three[Reason, Amount, Amount]("unconfirmed_reach", Warning,
		"{unconfirmed}. With them, {total} of {limit} GPU-hours would be used", "")
	EstimatedReach = three[Amount, Amount, Amount]("estimated_reach", Warning,
		"the limit is reached by estimates: {certain} of {limit} GPU-hours are certain. {estimated} are estimated, "+
			"since the ends of pods are not known exactly", "")
	Unbounded = warning("unbounded", "usage in an observation gap has no known bound: it may be higher than the error bound")
	Overlaps  = one[Objects]("overlaps", Warning,
		"some of its pods count for {budgets}, too: each budget enforces its own limit on them", "")
	SelectorInvalid = one[Foreign]("selector_invalid", Warning, "its selector is invalid, so nothing is enforced: {error}", "")
)

// Why enforcement skips a pod.
var (
	InSystemNamespace    = none("in_system_namespace", "its namespace is the system's")
	InProtectedNamespace = none("in_protected_namespace", "its namespace is protected")
	Annotated            = one[Word]("annotated", Info, "it is annotated with {key}", "")
	Labeled              = one[Word]("labeled", Info, "it is labeled with {key}", "")
	InLabeledNamespace   = one[Word]("in_labeled_namespace", Info, "its namespace is labeled with {key}", "")
	SystemPriority       = none("system_priority", "its priority is the system's")
	ProtectedClass       = none("protected_class", "its priority class is protected")
	ClassMissing         = one[Word]("class_missing", Info, `the cluster has no priority class "{class}" to compare it with`, "")
	PriorityNotBelow     = two[Count, Word]("priority_not_below", Info, "its priority {priority} is not below that of {class}", "")
	StaticPod            = none("static_pod", "it is a static pod of its node")
	OwnerProtected       = one[Workload]("owner_protected", Info, "the {workload} has a protected pod", "")
)

// Why an action does not reach a pod or a workload.
var (
	NoOwner       = none("no_owner", "it has no owner")
	OtherTemplate = one[Workload]("other_template", Info, "the selector does not match the pod template of the {workload}", "")
	// OutOfReach has what the cluster says, or what controls the workload.
	OutOfReach = one[Foreign]("out_of_reach", Info, "{why}", "")
)

// Why a budget changes a workload or a pod.
var (
	OtherSelector    = none("other_selector", "the freeze in force has another selector than the declaration")
	PodsWait         = none("pods_wait", "its pods wait for GPUs, and would start once GPUs are free")
	StartsJobs       = none("starts_jobs", "it would start more Jobs")
	ResumedManually  = none("resumed_manually", "it was resumed manually since it was paused")
	InterruptedPause = none("interrupted_pause", "an interrupted run stopped it")
	PausedByOther    = none("paused_by_other", "another budget paused it, and this one does, too")
	PauseIneffective = one[Workload]("pause_ineffective", Info, "the pause of its {workload} had no effect", "")
	NotPausable      = one[Reason]("not_pausable", Info, "it cannot be paused: {why}", "")
	FailsJob         = one[Workload]("fails_job", Info,
		"it fails its {job} for good: no podFailurePolicy ignores DisruptionTarget, and the Job survives no further failure", "")
	Ranked = four[Count, Count, Word, Reason]("ranked", Info, "it is number {number} of {of} by {eviction_order}: {why}", "")
	Holds  = two[Amount, Instant]("holds", Info, "it holds {gpus} {gpus:GPU|GPUs} since {since}", "")
	OnSpot = one[Reason]("on_spot", Info, "it runs on a spot instance, {holds}", "")

	WithPriority   = two[Count, Reason]("with_priority", Info, "its priority is {priority}, {holds}", "")
	WaitsFor       = one[Amount]("waits_for", Info, "it waits for {gpus} {gpus:GPU|GPUs}, and would start once GPUs are free", "")
	TerminatesLate = two[Instant, Duration]("terminates_late", Info,
		"it is terminating and may take until {due}, longer than max_grace_period ({max_grace_period})", "")
	FreezeStays = none("freeze_stays", "its freeze stays in force")
)

// Pods of a budget, and what is not done about them.
var (
	PodsWaiting = three[Count, Amount, Listed]("pods_waiting", Warning, "{count} {count:pod waits|pods wait} for {gpus} {gpus:GPU|GPUs}: {pods}", "")

	ProtectedWaiting = two[Count, Listed]("protected_waiting", Warning, "{count} protected {count:pod waits|pods wait} for GPUs: {pods}", "")
	LeftWaiting      = two[Count, Listed]("left_waiting", Warning,
		"{count} {count:pod is|pods are} left waiting: an eviction counts as a failure of a Job, "+
			"unless its podFailurePolicy ignores DisruptionTarget: {pods}", "")
	OfJob = one[Word]("of_job", Info, "of the Job {job}", "")

	ProtectedFrom = three[Count, Word, Listed]("protected_from", Warning,
		"{count} {count:pod is|pods are} protected from {action}, and still {count:counts|count}: {pods}", "")
	NotPaused = two[Count, Listed]("not_paused", Warning,
		"{count} {count:pod cannot|pods cannot} be paused, and still {count:counts|count}: {pods}", "")
	EvictedLater = two[Count, Count]("evicted_later", Warning,
		"{count} more {count:pod is|pods are} to be evicted, and {count:waits|wait} for the next runs: max_evictions_per_run is {max_evictions_per_run}", "")
	Terminating = two[Count, Listed]("terminating", Warning,
		"{count} {count:pod is|pods are} terminating, and still {count:holds|hold} GPUs: {pods}", "")
	DueAt                = one[Instant]("due_at", Info, "due at {at}", "")
	ProtectedTerminating = two[Count, Listed]("protected_terminating", Warning,
		"{count} protected {count:pod is|pods are} terminating, and still {count:holds|hold} GPUs: {pods}", "")
	PausedAgain = two[Count, Listed]("paused_again", Warning,
		"{count} paused {count:workload was|workloads were} resumed manually, and {count:its pods hold|their pods hold} GPUs: {workloads}; it is paused again",
		"")
	LeftRunning = two[Count, Listed]("left_running", Warning,
		"{count} paused {count:workload was|workloads were} resumed manually, and {count:its pods hold|their pods hold} GPUs: {workloads}; "+
			`on_manual_resume = "warn" leaves it running`, "")
)

// Effects of a budget that were not observed.
var (
	PodsHold = two[Count, Listed]("pods_hold", Info, "{count} {count:pod holds|pods hold} GPUs ({pods})", "")
	// EffectOfPool has what there is to say of a workload that a stock pool pauses.
	EffectOfPool = three[Workload, Object, Reasons]("effect_of_pool", Info, "{workload}, which {stock_pool} pauses: {effect}", "")
	FreezeGone   = one[Instant]("freeze_gone", Warning, "its freeze was gone, so that new GPU pods may have been admitted since {since}", "")
	FreezeGoneBy = three[Instant, Foreign, Instant]("freeze_gone_by", Warning,
		`its freeze was gone, so that new GPU pods may have been admitted since {since}: "{manager}" wrote it at {wrote_at}`, "")
	PauseLost = two[Workload, Text]("pause_lost", Warning,
		"{workload} is stopped, and the record that this budget paused it is lost: gpupool does not resume it", "To resume it:\n{command}")
	MorePausesLost = one[Count]("more_pauses_lost", Warning,
		"the records of {count} more pauses are lost: resume the workloads above, and the next run lists them", "")
)

// These name what an older gpupool left in a cluster.
var (
	Unrecognized = four[Workload, Word, Reason, Text]("unrecognized", Warning,
		"{object} has the label {label}, which this gpupool does not use there: {means}, and no run changes it", "To remove it:\n{commands}")
	LeftFreeze  = none("left_freeze", "it can be a freeze of an older gpupool that blocks new GPU pods")
	LeftPause   = none("left_pause", "an older gpupool may have paused it")
	LeftResumed = none("left_resumed", "an older gpupool may have paused it, and it was resumed since")
)

// BudgetDestroyed is why a destroy lifts what a budget has in force.
var BudgetDestroyed = none("budget_destroyed", "the budget is destroyed")

// These say that a cluster lacks something that a declaration needs.
var (
	NotInCluster = three[Word, Word, Word]("not_in_cluster", Warning,
		`its {argument} names the {kind} "{name}", which does not exist in the cluster`, "")
	NotInClusterNearest = four[Word, Word, Word, Word]("not_in_cluster_nearest", Warning,
		`its {argument} names the {kind} "{name}", which does not exist in the cluster: did you mean "{nearest}"?`, "")
	FreezeWouldFail = one[Foreign]("freeze_would_fail", Warning, "its freeze would fail now: {error}", "")
)
