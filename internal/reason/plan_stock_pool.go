package reason

// These are about a stock pool in a plan or an apply.
var (
	MalformedStockPool = one[Foreign]("malformed_stock_pool", Warning, "malformed import ID",
		`"{id}" is not the ID of a stock pool: use NAMESPACE/NAME, such as "default/pool-g1"`)
	DeploymentTakenOver = one[Word]("deployment_taken_over", Warning, "Deployment {deployment} is taken over",
		"gpupool did not create it. Applying this plan changes it as shown, and replaces its pods. Fields without an argument stay as they are")
	StockPoolUnfinished = one[Word]("stock_pool_unfinished", Warning, "stock pool {pool} is not created yet",
		"Its creation was interrupted, so gpupool reconcile does not manage it yet. Applying this plan finishes it")
	StockPoolTakenOver = one[Word]("stock_pool_taken_over", Warning, "stock pool {pool} is taken over",
		"It was requested through the API, and a run deletes it when it expires. Applying this plan removes its owner and its expiry")
	StockPoolUnrecorded = two[Word, Word]("stock_pool_unrecorded", Warning, "stock pool {pool} is not recorded",
		"The store {store} has no record of it, so no run keeps it in sync. "+recordsAgain)
	StockPoolTaken = three[Word, Foreign, Paragraphs]("stock_pool_taken", Warning, "stock pool {pool} exists already",
		"If this plan replaces it, it is destroyed first. Otherwise, an apply is refused: {error}.\n\n{pods}")
	StockBudgetUndeclared = three[Word, Foreign, Paragraphs]("stock_budget_undeclared", Warning, "budget {budget} is not declared yet",
		"The stock pool has no pods until the budget is declared and gpupool reconcile has evaluated it: {error}. {declared_together}")
	StockBudgetUncovering = one[Foreign]("stock_budget_uncovering", Warning, "budget does not cover the stock pool", "{error}")
	StockOutOfSync        = two[Text, Reasons]("stock_out_of_sync", Warning,
		"it is out of sync: an apply or the next gpupool reconcile would {change}: {reasons}", "")

	DeploymentWasLeft = one[Word]("deployment_was_left", Warning, "Deployment {deployment} was left",
		"It was imported, and no apply took it over, so gpupool does not delete it")
	StockPoolLeft = two[Word, Paragraphs]("stock_pool_left", Warning, "stock pool {pool} left objects", "{objects}")
)

// These say how a plan that destroys or replaces a stock pool ends its pods. The operation is "destroying" or "replacing".
var (
	StockPodsUnknown = four[Word, Word, Word, Foreign]("stock_pods_unknown", Warning, "stock pool {pool}: its pods are unknown",
		`{operation} it deletes its pods, unless the record has on_destroy = "{on_destroy}": {error}`)
	StockPodsDeleted = three[Word, Count, Paragraphs]("stock_pods_deleted", Warning, "stock pool {pool}: {pods} {pods:pod|pods} to be deleted", "{details}")
	StockUsedDeleted = four[Word, Count, Count, Paragraphs]("stock_used_deleted", Warning,
		"stock pool {pool}: {pods} {pods:pod|pods} to be deleted, {in_use} in use", "{details}")
	DeletesPods     = two[Word, Count]("deletes_pods", Info, "{operation} it deletes {pods} {pods:pod|pods}, none of them in use", "")
	DeletesUsedPods = four[Word, Count, Count, Names]("deletes_used_pods", Warning,
		"{operation} it deletes {pods} {pods:pod|pods}, {in_use} of them in use: {names}", "")
	DeletesUnknownPods = two[Word, Count]("deletes_unknown_pods", Warning,
		"{operation} it deletes {pods} {pods:pod|pods}. Whether they are in use is unknown: it has no allocated_selector", "")
	DeletedPodsUnknown = one[Foreign]("deleted_pods_unknown", Warning, "the deleted pods are unknown: {error}", "")
)

// These say how a change of a stock pool affects its pods.
var (
	StockReplacesPods = four[Word, Count, Clauses, Count]("stock_replaces_pods", Warning, "stock pool {pool} replaces its pods",
		"The pod template changes: {pods:its only pod is|all its pods are} replaced, {how}. {in_use} of {pods} {pods:pod|pods} {in_use:is|are} in use")
	StockDeletesUsed = three[Word, Count, Count]("stock_deletes_used", Warning, deletesUsed, "{in_use} are in use, and {stay} stay")
	StockMayDelete   = four[Word, Count, Count, Count]("stock_may_delete", Warning, deletesUsed,
		"{in_use} are in use, and {stay} stay. Kubernetes first deletes pods that are pending or not ready, and spreads a scale-down over old and new pods "+
			"during a rollout. To keep all pods in use, at least {fewest} must stay")
	// These say how a Deployment replaces its pods.
	FewAtATime       = none("few_at_a_time", "a few at a time")
	OnceResumed      = none("once_resumed", "once the paused rollout of its Deployment is resumed")
	AtOnceByRecreate = none("at_once_by_recreate", "at once, since its Deployment has the strategy Recreate")
	AtOnceByMaximum  = one[Value]("at_once_by_maximum", Info, "at once, since its Deployment has maxUnavailable {max_unavailable}", "")
)

const deletesUsed = "stock pool {pool} deletes pods in use"
