package reason

// These are about a budget in a plan or an apply.
var (
	BudgetUnrecorded = two[Word, Word]("budget_unrecorded", Warning, "budget {budget} is not recorded",
		"The store {store} has no record of it, so no run counts its usage or enforces it. "+recordsAgain)
	BudgetTakenOver = one[Word]("budget_taken_over", Warning, "budget {budget} is taken over",
		"A file declares it: gpupool declare, or the values of the Helm chart. After the apply, that file no longer changes the budget. Remove it from there")
	BudgetNeedsCluster = two[Word, Paragraphs]("budget_needs_cluster", Warning, "budget {budget} needs what the cluster does not have", "{why}")
	BudgetEvicts       = three[Word, Word, Count]("budget_evicts", Warning, "budget {budget} evicts pods",
		"After its limit has been reached for {grace_period}, each gpupool reconcile run blocks new GPU pods of the selector. It evicts up to {pods} "+
			"{pods:pod|pods}. gpupool reconcile --dry-run lists them")
	BudgetPauses = two[Word, Word]("budget_pauses", Warning, "budget {budget} pauses workloads",
		"After its limit has been reached for {grace_period}, gpupool reconcile suspends the Jobs and CronJobs of the selected pods. It scales their "+
			"Deployments and StatefulSets to zero. They resume when usage falls below the limit. gpupool reconcile --dry-run lists them")
	BudgetLeftWorkloads = two[Word, Paragraphs]("budget_left_workloads", Warning, "budget {budget} left a workload as it was", "{workloads}")

	BudgetShared = two[Word, Paragraphs]("budget_shared", Warning, "budget {budget} is shared by several namespaces", "{how}")
	// These say how a budget is shared.
	SharedByNames = two[Names, Word]("shared_by_names", Info,
		"the namespaces {namespaces} and {last} share one limit: usage in one reduces what is left for the others", "")
	SharedByLabels = none("shared_by_labels",
		"all namespaces with the labels in namespace_labels share one limit: usage in one reduces what is left for the others")
	SharedEffect = one[Clauses]("shared_effect", Info, "when the limit is reached, {effect} in any of them, whichever caused it", "")
	SharedAdvice = none("shared_advice", "if they belong to different teams, give each its own budget")
	// These are the effects of an action when the limit is reached.
	MayEvict  = none("may_evict", "pods may be evicted")
	MayPause  = none("may_pause", "workloads may be paused")
	MayFreeze = none("may_freeze", "new GPU pods may be blocked")

	LimitLowered = four[Word, Amount, Amount, Paragraphs]("limit_lowered", Warning, "limit of budget {budget} is lowered",
		"gpu_hours changes from {from} to {to}. While usage is at the limit or above, spot pools that name the budget launch nothing, and stock pools under "+
			"it do not grow.\n\n{usage}")
	UsedBelow  = two[Amount, Instant]("used_below", Info, "{used} were used as of {at}, less than the new limit", "")
	UsedAbove  = two[Amount, Instant]("used_above", Warning, "{used} were used as of {at}, at least the new limit", "")
	UsageLater = none("usage_later", "usage is not known yet")
	ActsFrom   = three[Word, Instant, Clauses]("acts_from", Warning, "from {grace_period} after the apply, not before {at}, {effect}", "")

	UsageDoubted  = two[Word, Paragraphs]("usage_doubted", Warning, "usage of budget {budget}", "{why}")
	NeverCounted  = none("never_counted", "no gpupool reconcile run has counted it yet, so its usage is unknown and its values are null")
	CountedBefore = three[Instant, Count, Count]("counted_before", Warning,
		"it was changed after the count at {at}: the values are those of its generation {counted}, and generation {declared} is declared",
		"The next gpupool reconcile run counts it again")
	CountedLongAgo = two[Instant, Word]("counted_long_ago", Warning,
		"it was counted at {at}, which is longer ago than max_status_age ({max_status_age})", "Check that gpupool reconcile still runs")
)

// These are about a notification in a plan or an apply.
var (
	NotificationUnrecorded = two[Word, Word]("notification_unrecorded", Warning, "notification {notification} is not recorded",
		"The store {store} has no record of it, so no run sends its messages. "+recordsAgain)
	NotificationKeepsAddress = four[Word, Word, Word, Count]("notification_keeps_address", Warning, "notification {notification} keeps its address",
		"The type changes from {from} to {to}, and url_wo_version stays {version}, so the store keeps the address of {from}. To apply another address, "+
			"increase url_wo_version")
	NotificationHadEvents = two[Word, Paragraphs]("notification_had_events", Warning, "notification {notification} had events to deliver", "{events}")
)
