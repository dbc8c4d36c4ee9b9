package reason

// A run, or an apply, could not do something for a spot pool.
var (
	NotObserved = one[Reason]("not_observed", Warning, "{when}, the pool had not been observed; the next apply or reconcile resumes", "")
	NotSettled  = two[Reason, Clauses]("not_settled", Warning, "{when}, {waits}; the next apply or reconcile resumes", "")
	// AfterWait and AtInterrupt say when a wait ended.
	AfterWait   = one[Duration]("after_wait", Info, "after {wait}", "")
	AtInterrupt = none("at_interrupt", "at the interrupt")

	StillLaunching   = one[Count]("still_launching", Info, "{instances} {instances:instance was|instances were} still launching", "")
	StillTerminating = one[Count]("still_terminating", Info, "{instances} {instances:instance was|instances were} still terminating", "")
	StillDraining    = two[Count, Names]("still_draining", Info, "{nodes} {nodes:node was|nodes were} being drained: {drains}", "")
	Unsettled        = none("unsettled", "the pool had not settled")

	TokenKept = three[Word, Count, Foreign]("token_kept", Warning,
		"bootstrap token {bootstrap_token_id} of launch {sequence} could not be deleted; the next run retries: {error}", "")
	MarkKept = two[Node, Foreign]("mark_kept", Warning,
		"node {node} still has the pool's mark, so another pool would ignore its interruption notices: {error}", "")
	MarkMissing = two[Node, Foreign]("mark_missing", Warning,
		"node {node} has no mark of the pool, and would not be deleted once its instance is gone: {error}", "")
	ClusterNotCleaned = two[Object, Foreign]("cluster_not_cleaned", Warning,
		"the cluster of {pool} cannot be cleaned up. Nodes may stay cordoned or marked, and a pool that adopts "+
			"them then ignores their interruption notices. Bootstrap tokens may stay valid: {error}", "")
	PodsUncounted = two[Object, Foreign]("pods_uncounted", Warning,
		"it is unknown which instances of {pool} have pods with GPUs, and some of these may be terminated before others: {error}", "")
	DeletionComplete = none("deletion_complete", "its deletion is complete: no instance is left")
)
