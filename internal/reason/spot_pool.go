package reason

// Instances that a spot pool counts, but not as capacity.
var (
	LaunchTimeoutExceeded = two[Names, Duration]("launch_timeout_exceeded", Warning,
		"{instances} {instances:has|have} been starting for longer than the launch timeout of {launch_timeout}: counted in the total but not as capacity",
		"Tencent Cloud does not terminate starting instances: if this persists, open a ticket")
	Restricted = one[Names]("restricted", Warning,
		"{instances} {instances:is|are} running but restricted (expired or isolated): counted in the total but not as capacity",
		"Check the account's balance")
	Stopped = one[Names]("stopped", Warning,
		"{instances} {instances:is|are} stopped: counted in the total but not as capacity", "Start or terminate what was stopped on purpose")
	UnknownState = one[Names]("unknown_state", Warning,
		"{instances} {instances:is|are} in a state that gpupool does not handle: counted in the total but not as capacity, and never terminated", "")
	OtherChargeType = one[Names]("other_charge_type", Warning,
		"{instances} {instances:has|have} another charge type now: the pool counts {instances:it|them} and never terminates {instances:it|them}",
		"To detach {instances:it|them}, remove the tag gpupool/uid")
	Untagged = two[Names, Word]("untagged", Warning,
		"{instances} still {instances:has|have} none of the pool's tags: counted in the total, and never terminated by the pool",
		"Set the tag gpupool/uid = {uid}, or terminate")
	OfOtherAccount = one[Names]("of_other_account", Warning,
		"{instances} {instances:has|have} this pool's uid, but not its account or region: ignored", "")
	AmbiguousInstances = one[Names]("ambiguous_instances", Warning,
		"{instances} {instances:has|have} this pool's uid and contradictory data: nothing is launched",
		"Check the console, and remove the tag gpupool/uid from instances of other pools")
)

// A budget blocks the launches of its spot pools.
var (
	BudgetUsedUp = four[Object, Amount, Amount, Instant]("budget_used_up", Warning,
		"{budget} is used up: {used} of {limit} GPU-hours as of {at}. Launches resume once usage is below the limit", "")
	BudgetUsedUpUntil = five[Object, Amount, Amount, Instant, Instant]("budget_used_up_until", Warning,
		"{budget} is used up: {used} of {limit} GPU-hours as of {at}, in a window that ends {ends}. Launches resume once usage is below the limit", "")
	BudgetUnknown    = two[Object, Foreign]("budget_unknown", Warning, "launches are blocked: usage of {budget} is unknown: {error}", "")
	BudgetUndeclared = two[Object, Foreign]("budget_undeclared", Warning, "launches are blocked: {budget} is not declared: {error}", "")
	PoolDestroyed    = none("pool_destroyed", "the pool is being destroyed")
)

// Why a spot pool launches no more.
var (
	JournalLost = two[Instant, Instant]("journal_lost", Warning,
		"its journal was missing, or an old copy, at {lost_at}, so recent launches may not be listed yet: nothing is launched until {until}",
		"Any apply or reconcile after that launches the missing instances")
	LaunchRefused = one[Foreign]("launch_refused", Warning, "{error}", "")

	PricesUnknown = one[Names]("prices_unknown", Warning,
		"the price of {of} is unknown: nothing is launched, since max_hourly_cost could not be kept", "")
	LaunchIncomplete = three[Count, Count, Count]("launch_incomplete", Info,
		"launch {sequence} shows {shown} of its {instances} {instances:instance|instances} so far", "")
	FallbackAt     = one[Instant]("fallback_at", Info, "on-demand instances take over at {at}", "")
	FallbackUsedUp = two[Count, Count]("fallback_used_up", Info,
		"on_demand_fallback allows {maximum} on-demand instances in place of spot ones, and {instances} {instances:is|are} there", "")
	LaunchedByNextRun = two[Count, Count]("launched_by_next_run", Info,
		"max_launches_per_run is {max_launches_per_run}: {instances} more to be launched by the next run", "")
	NoRoom              = three[Count, Count, Count]("no_room", Info, "total {total}, and maximum is {maximum}: no room for {instances} more", "")
	NoRoomWhileStarting = three[Reason, Count, Duration]("no_room_while_starting", Info,
		"{no_room}, as {instances} {instances:has|have} been starting for longer than the launch timeout of {launch_timeout}", "")
)

// Why an offering is skipped.
var (
	NotSold           = none("not_sold", "not sold: the zone does not offer it")
	SoldOut           = none("sold_out", "sold out: Tencent Cloud has no stock")
	AboveSpotMaxPrice = two[Price, Price]("above_spot_max_price", Info,
		"the market price of {price} an hour is above spot_max_price {spot_max_price}", "")
	SmallerBatch = three[Count, Instant, Word]("smaller_batch", Info, "no more than {instances} at once until {until} ({error})", "")
	QuotaUsedUp  = three[Word, Count, Count]("quota_used_up", Info,
		"the account's spot quota in {zone} has {vcpus} vCPUs left, and one instance needs {needed}", "")
	PriceUnknown      = none("price_unknown", "its price is unknown, so max_hourly_cost could not be kept")
	OtherPriceUnknown = one[Names]("other_price_unknown", Info, "the price of {of} is unknown, so max_hourly_cost could not be kept", "")
	AboveHourlyCap    = three[Price, Price, Price]("above_hourly_cap", Info,
		"{price} an hour in addition to the pool's {spent} would exceed max_hourly_cost {max_hourly_cost}", "")
)

// Effects of a hold.
var (
	OnHold = four[Word, Instant, Foreign, Word]("on_hold", Warning,
		"on hold by {who} until {until}: {why}. Until then, no instance is launched or terminated", "To end the hold:\ngpupool release {pool}")
	AboveMaximumOnHold = four[Count, Count, Reason, Word]("above_maximum_on_hold", Warning,
		"{instances} {instances:instance|instances} above maximum {maximum}: {hold}", "To end the hold:\ngpupool release {pool}")
	ReclaimedOnHold = two[Reason, Count]("reclaimed_on_hold", Warning,
		"{reclaim}: on hold, {instances:its|their} replacement is not launched, and no node is drained", "")
	LaunchAfterHold = two[Count, Count]("launch_after_hold", Info,
		"launch {sequence} of {instances} {instances:instance|instances} has an unknown outcome, and is retried after the hold", "")
)

// Interruptions by Tencent Cloud.
var (
	Reclaimed         = two[Names, Instant]("reclaimed", Info, "Tencent Cloud reclaims {instances} at {at}", "")
	ReplacedLater     = two[Reason, Count]("replaced_later", Info, "{reclaim}, and {instances:its|their} replacement is launched later", "")
	ReclaimedDraining = two[Reason, Reason]("reclaimed_draining", Info, "{reclaim}, and its node is drained: {drain}", "")
)

// Why an instance is not terminated yet.
var (
	ClusterUnobserved = none("cluster_unobserved", "the cluster was not observed: nothing is drained, replaced or terminated")
	NodeAmbiguous     = three[Word, Reason, Reason]("node_ambiguous", Info, "{instance} is to be terminated ({reason}), but its node is ambiguous: {why}", "")
	NodeKept          = three[Word, Instant, Reason]("node_kept", Info, "{instance} was kept at {at} ({why}): it is drained again an hour later", "")
	NodeNotDrained    = three[Word, Reason, Reason]("node_not_drained", Info,
		"{instance} is to be terminated ({reason}), but its node is not drained: {why}", "")
	NodeDraining    = three[Word, Reason, Reason]("node_draining", Info, "{instance} is to be terminated ({reason}) after its drain: {drain}", "")
	CannotTerminate = two[Count, Count]("cannot_terminate", Warning,
		"{instances} {instances:instance|instances} above maximum {maximum} cannot be terminated: protected, refused by Tencent Cloud, "+
			"starting for too long, or in an unknown state", "Lift the protection, or raise maximum")
	CannotTerminateDrained = one[Count]("cannot_terminate_drained", Warning,
		"{instances} {instances:instance|instances} of a drained pool cannot be terminated: protected, refused by Tencent Cloud, "+
			"starting for too long, or in an unknown state", "Lift the protection to terminate them")
)

// Why nothing is replaced now. The reason is why it is replaced.
var (
	ReplacingSuspended = two[Reason, Word]("replacing_suspended", Warning, "replacement is suspended: {why}",
		"It resumes when fewer fail. Check the nodes:\ngpupool status {pool} --machines")
	ReplacingSuspendedEarly = two[Reason, Word]("replacing_suspended_early", Warning, "replacement is suspended: {why}",
		"It resumes once a node has worked for an hour, or the configuration changes. Check the nodes, and resume it:\n"+
			"gpupool status {pool} --machines\ngpupool release {pool}")
	ReplacingAwaits = three[Word, Reason, Reason]("replacing_awaits", Info,
		"{instance} is to be replaced ({reason}), but not while {awaited}: they may recover together", "")
	ReplacedOnceLaunchable = two[Word, Reason]("replaced_once_launchable", Info, "{instance} is to be replaced ({reason}) once launches are possible", "")
	ReplacedByNextRun      = three[Word, Reason, Count]("replaced_by_next_run", Info,
		"{instance} is to be replaced ({reason}) by the next run: max_replacements_per_run is {max_replacements_per_run}", "")
	TerminatedOnceReplaced = one[Names]("terminated_once_replaced", Info,
		"{instances} {instances:is|are} terminated once {instances:its replacement works|their replacements work}", "")
	ReplacedOnceResumed = two[Count, Reason]("replaced_once_resumed", Info,
		"{instances} to be replaced (drifted configuration) once replacing is no longer suspended: {why}", "")
	OnDemandBaseNoRoom = four[Count, Count, Count, Count]("on_demand_base_no_room", Info,
		"{running} of {on_demand_base} on-demand instances of on_demand_base run, and "+
			"total {total} of maximum {maximum} leaves no room for more: raise maximum", "")
	OnDemandBaseNotLaunched = two[Count, Count]("on_demand_base_not_launched", Info,
		"{running} of {on_demand_base} on-demand instances of on_demand_base run, and no more can be launched now", "")
	MarketUnknown = three[Count, Reason, Word]("market_unknown", Info,
		"{instances} to be replaced ({reason}): {unknown} unknown, so a replacement may not be available", "")
	ReplaceNoRoom = four[Count, Reason, Count, Count]("replace_no_room", Info,
		"{instances} to be replaced ({reason}), and "+
			"total {total} of maximum {maximum} leaves no room to launch first: raise maximum, or allow max_unavailable", "")
	ReplaceNotLaunched = two[Count, Reason]("replace_not_launched", Info,
		"{instances} to be replaced ({reason}), and nothing can be launched first: allow max_unavailable, so that a termination makes room", "")
	ReplacedAboveMinimum = two[Count, Reason]("replaced_above_minimum", Info, "{instances} to be replaced ({reason}) once the pool is above its minimum", "")
	ReplacedOnceRunning  = four[Count, Reason, Count, Count]("replaced_once_running", Info,
		"{instances} to be replaced ({reason}) once more than {floor} are running, and {available} {available:is|are}", "")
	ReplacedOnceReady = five[Count, Reason, Count, Duration, Count]("replaced_once_ready", Info,
		"{instances} to be replaced ({reason}) once more than {floor} {floor:node has|nodes have} been Ready for {ready_for}, "+
			"and {available} {available:has|have}", "")
	NotReady = two[Reason, Names]("not_ready", Warning,
		"{waits}: {nodes} {nodes:is|are} not Ready, or not known to be. No working instance is terminated meanwhile; check these nodes", "")
)

// Why instances that replacements left are not terminated yet.
var (
	SurplusLater = four[Count, Count, Instant, Duration]("surplus_later", Info,
		"{instances} above the {baseline} that the pool keeps, left by replacements: scaled in from {until} on (surplus_after is {surplus_after})", "")
	SurplusKept = four[Count, Count, Count, Reasons]("surplus_kept", Info,
		"{instances} above the {baseline} that the pool keeps, left by replacements, and {kept} {kept:is|are} kept: {causes}", "")
	KeptProtected = one[Names]("kept_protected", Info, "{instances} (protected)", "")
	KeptRefused   = one[Names]("kept_refused", Info, "{instances} (refused by Tencent Cloud)", "")
	KeptNotReady  = one[Names]("kept_not_ready", Info, "{instances} (not Ready)", "")
	KeptFresh     = three[Names, Duration, Instant]("kept_fresh", Info, "{instances} (will have been Ready for {ready_for} at {at})", "")
	KeptOfMinimum = two[Count, Count]("kept_of_minimum", Info, "{available} of minimum {minimum} {available:is|are} available", "")
)

// Effects of a budget on its pool.
var (
	DrainedByBudget = two[Reason, Word]("drained_by_budget", Warning, `no instances are desired: {why}, and on_budget_exceeded is "{on_budget_exceeded}"`,
		"They are launched again once the budget is no longer exceeded")
	DrainsForBudget = three[Reason, Word, Instant]("drains_for_budget", Warning,
		`{why}. As on_budget_exceeded is "{on_budget_exceeded}", the pool's nodes are drained and its instances terminated from {at} on, `+
			"unless the budget is no longer exceeded by then", "")
)

// Nodes that are not, or no longer, the pool's.
var (
	NodeOfOtherPool = three[Node, Word, Word]("node_of_other_pool", Warning,
		"node {node} of {instance} has the mark of another pool (uid {uid}). Its interruption notices are ignored, and it is not deleted when its "+
			"instance is gone", "Remove the mark:\nkubectl annotate node {node} gpupool/pool-uid-")
	NodeInUse = two[Node, Word]("node_in_use", Warning,
		"node {node} is used by another machine: its instance {instance} is gone, and its kubelet reported afterwards. It is not deleted",
		"If that machine must register again, drain and delete the node. Otherwise remove the pool's mark from it:\n"+
			"kubectl annotate node {node} gpupool/pool-uid-")
)
