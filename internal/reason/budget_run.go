package reason

// AboutBudget is a warning of a run about one budget.
var AboutBudget = two[Object, Reason]("about_budget", Warning, "{budget}: {why}", "{why}")

// These say that a run could not record or report something about a budget.
var (
	IntentUnrecorded = one[Foreign]("intent_unrecorded", Warning,
		"the next actions could not be recorded, and are not reported if this run is killed: {error}", "")
	EventsFailed        = one[Foreign]("events_failed", Warning, "no Events report its actions in the cluster: {error}", "")
	LiftEventsFailed    = one[Foreign]("lift_events_failed", Warning, "no Events report what was lifted: {error}", "")
	ResumeUnrecorded    = one[Foreign]("resume_unrecorded", Warning, "the manual resume of a workload could not be recorded: {error}", "")
	DeletionsUnrecorded = one[Foreign]("deletions_unrecorded", Warning,
		"could not write the deletion times of evicted pods to the ledger: their ends are estimates unless the next run observes them: {error}", "")
	// DocumentFailed is the error of a document of the store, which names it.
	DocumentFailed = one[Foreign]("document_failed", Warning, "{error}", "")
	LockKept       = one[Foreign]("lock_kept", Warning, "{error}", "")
)

// Why the status of a budget does not count.
var (
	BeingDestroyed = warning("being_destroyed", "it is being destroyed")
	Unjudged       = one[Instant]("unjudged", Warning, "it was changed at {at}, and no run has judged it since", "")
	StatusOld      = three[Instant, Duration, Duration]("status_old", Warning,
		"its status is as of {as_of}, {age} ago, and max_status_age is {max_status_age}",
		"Check whether gpupool reconcile still runs, and reaches the cluster")
	StatusOfLastRun = one[Foreign]("status_of_last_run", Warning,
		"its status is that of the last run; what a run would do now is unknown: {error}", "")
	StatusAhead = one[Instant]("status_ahead", Warning, "its status is as of {as_of}, which is still to come: one of the clocks is wrong", "")
)

// Grants and deletions of a budget, as of its status.
var (
	GrantExpired = two[Amount, Instant]("grant_expired", Warning,
		"a grant of {gpu_hours} {gpu_hours:GPU-hour|GPU-hours} ended at {at}: the next run enforces the limit without it", "")
	GrantReleased = one[Amount]("grant_released", Warning,
		"a grant of {gpu_hours} {gpu_hours:GPU-hour|GPU-hours} was released: the next run enforces the limit without it", "")
	GrantInForce = three[Amount, Foreign, Object]("grant_in_force", Warning,
		"granted in addition to the declared {gpu_hours}: {grant}", "To end the grant: gpupool release {budget}")
)

// Losses of the ledger that an operator accepts.
var (
	LossAcceptedBefore = warning("loss_accepted_before", "every loss of the ledger was accepted before")
	LossAccepted       = two[Foreign, Reasons]("loss_accepted", Warning,
		"loss accepted ({why}): {lost}. It is not counted, and no longer withholds anything", "")
	LostDocument = one[Foreign]("lost_document", Info, "{document}", "")
	UsageBefore  = one[Instant]("usage_before", Info, "usage before {at} that is not in the ledger", "")
	// AcceptedBecause is why an operator accepted a loss.
	AcceptedBecause    = one[Foreign]("accepted_because", Info, "{why}", "")
	CountedWithoutLoss = three[Amount, Amount, Facts]("counted_without_loss", Warning,
		"{used} of {limit} GPU-hours are counted without the lost part: {lifted}", "")
	FreezeLifted     = none("freeze_lifted", "its freeze is lifted")
	WorkloadsResumed = one[Count]("workloads_resumed", Info, "{count} {count:workload is|workloads are} resumed", "")
	PoolsMayLaunch   = none("pools_may_launch", "pools that name it may launch")
	UsageDropped     = one[Instant]("usage_dropped", Warning,
		"usage that ended before {known_since} was already dropped when no budget's window needed it: usage may be higher", "")
)

// These name what budgets left in force.
var (
	InForceUnknown = one[Foreign]("in_force_unknown", Warning, "what budgets have in force is unknown: {error}", "")
	InForceOfOther = two[Word, Word]("in_force_of_other", Warning,
		"a freeze or pauses of budget UID {uid} are in force, and the store {store} does not have that budget. They stay in force. "+
			"It is a budget of another store, or its record was lost. The store's documents pauses/{uid} list its pauses",
		"To list its freeze:\nkubectl get validatingadmissionpolicybindings -l gpupool/budget-uid={uid}")
	LiftedLater = one[Object]("lifted_later", Warning,
		"{budget} is destroyed, but a part of its enforcement is still in force: the next run lifts it", "")
	NotLifted = two[Object, Foreign]("not_lifted", Warning,
		"{budget} is destroyed, but a part of its enforcement is still in force, and the next run tries again to lift it: {error}", "")
	Lifted = one[Object]("lifted", Warning, "{budget} is destroyed, but a part of its enforcement was still in force: it was lifted", "")
	// LiftedExcept has what was left.
	LiftedExcept = two[Object, Reasons]("lifted_except", Warning,
		"{budget} is destroyed, but a part of its enforcement was still in force: it was lifted; {left}", "")
	MoreUnrecognized = one[Count]("more_unrecognized", Warning,
		"{count} more objects have such labels: remove those above, and the next run lists them", "")
	UnrecognizedUnknown = one[Foreign]("unrecognized_unknown", Warning, "objects of an older gpupool in the cluster are unknown: {error}", "")
)

// Why a workload is not paused or resumed.
var (
	LeftAsIs          = two[Workload, Reason]("left_as_is", Warning, "{workload}: {why}", "")
	WorkloadGone      = none("workload_gone", "it is gone")
	Contended         = none("contended", "another process keeps changing it")
	PausedByPool      = one[Object]("paused_by_pool", Info, "{stock_pool} scales it, and pauses it for its budgets", "")
	ScaledByPool      = one[Object]("scaled_by_pool", Info, "{stock_pool} scales it now", "")
	LeftResumedByHand = none("left_resumed_by_hand",
		`it was resumed manually since it was paused: on_manual_resume = "warn" leaves it running`)
	StoppedByHand      = none("stopped_by_hand", "it was stopped manually")
	KeptPaused         = one[Object]("kept_paused", Info, "{budget} keeps it paused", "")
	RestartedByHand    = none("restarted_by_hand", "it was resumed manually since it was paused; it is left as it is")
	StoppedAgain       = none("stopped_again", "it was resumed and stopped manually since it was paused; it is left as it is")
	PausedNext         = one[Object]("paused_next", Info, "{budget} is exceeded, too, and is about to pause it: it stays paused", "")
	NewerJobResumed    = one[Word]("newer_job_resumed", Info, "the newer Job {job} of its CronJob is resumed instead: it stays suspended", "")
	KindNotPaused      = one[Word]("kind_not_paused", Info, "gpupool pauses no {kind}", "")
	DaemonSetNotPaused = none("daemon_set_not_paused",
		"a DaemonSet can be neither suspended nor scaled to zero: change its nodeSelector or tolerations, or delete it")
	OperatedNotPaused = one[Word]("operated_not_paused", Info, "a {kind} can be neither suspended nor scaled to zero here: its operator has to", "")
	ChangeRefused     = one[Foreign]("change_refused", Info, "the cluster refuses the change: {error}", "")
	DeploymentOwnsPod = none("deployment_owns_pod", "no Deployment owns pods but by a ReplicaSet")
	SelectorUnread    = one[Foreign]("selector_unread", Info, "its selector cannot be read: {error}", "")
	NoGPUsRequested   = none("no_gpus_requested", "its own template of pods asks for no GPUs that the budget counts")
	UncontrolledSet   = none("uncontrolled_set", "no Deployment controls it, and a ReplicaSet by itself is not scaled")
)

const (
	clocksApart = ". GPU-hours are measured by the server's clock, but ends of holds and the age of a budget's status by this machine's"
	setClock    = "Set the clock that is wrong"
)

// These are doubts about the ledger's accounts.
var (
	// ErrorBound has the parts of the bound.
	ErrorBound       = two[Amount, Facts]("error_bound", Info, "usage may differ by {bound} GPU-hours: {parts}", "")
	BoundOfGaps      = one[Amount]("bound_of_gaps", Info, "{missed} of pods that began and ended while nothing was observed", "")
	BoundOfEstimates = one[Amount]("bound_of_estimates", Info, "{estimated} of pods whose ends are estimated or whose nodes were never observed", "")
	// Observed is a warning of the observation of a cluster, which names pods and nodes of tenants.
	Observed    = one[Foreign]("observed", Warning, "{warning}", "")
	PodProblem  = two[Workload, Reason]("pod_problem", Warning, "{pod}: {problem}", "")
	RecordError = one[Foreign]("record_error", Warning, "{error}", "")
	EndDisputed = four[Word, Node, Instant, Instant]("end_disputed", Warning,
		"the pod {pod}: the kubelet of its node {node} reports that it ended at {ended_at}. A run recorded its hours until {recorded_until}: these are kept",
		"Check the node's clock, and whether its credentials leaked")
	NamespaceGone = two[Word, Foreign]("namespace_gone", Warning,
		"the pod {pod}: its namespace is gone, and what labels that had is not known, so that no budget counts it by them: {why}", "")
	NamespaceForgotten = one[Word]("namespace_forgotten", Warning,
		"the pod {pod}: its namespace is gone, also from the server's history, so that no budget counts it by the namespace's labels", "")
	MoreDoubts   = one[Count]("more_doubts", Warning, "{count} more doubts about pods", "")
	MoreDoubtsOf = three[Count, Count, Word]("more_doubts_of", Warning, "{count} more doubts about pods, {most} of them in the namespace {namespace}", "")
	TooManyBound = two[Count, Count]("too_many_bound", Warning,
		"more than {bound} pods are bound to nodes whose kubelets have not accepted them. The labels at the binding of the {dropped} earliest are dropped: "+
			"these pods are counted by their labels when they are next observed", "Delete pods that are bound to nodes that never run them")
	ClockBack = two[Instant, Instant]("clock_back", Warning,
		"the cluster's clock reads {now}, and the last run read {last} there: one of the two was wrong", "")
	ClockAhead    = one[Duration]("clock_ahead", Warning, "this machine's clock is {by} ahead of that of the cluster's API server"+clocksApart, setClock)
	ClockBehind   = one[Duration]("clock_behind", Warning, "this machine's clock is {by} behind that of the cluster's API server"+clocksApart, setClock)
	EndsEstimated = one[Foreign]("ends_estimated", Warning, "Events could not be asked when pods ended, and their ends are estimated: {error}", "")
)

// These changes of a budget come by themselves.
var (
	NextGrantEnds = one[Amount]("next_grant_ends", Info,
		"the grant of {gpu_hours} {gpu_hours:GPU-hour|GPU-hours} ends, and lowers the limit", "")
	NextEnforcement = two[Word, Word]("next_enforcement", Info, "its grace period of {grace_period} ends, and its enforcement begins: {action}", "")
	NextExhaustion  = none("next_exhaustion", "its limit is reached, at the present rate")
	NextRecovery    = none("next_recovery", "usage falls below the limit, if nothing more is used")
	NextPeriod      = none("next_period", "its period ends, and usage starts again from zero")
)
