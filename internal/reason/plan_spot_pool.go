package reason

// These refuse a plan or an import of a spot pool.
var (
	DeletionProtected = two[Word, Word]("deletion_protected", Warning, "spot pool is protected from deletion",
		"The plan would {action} the spot pool {pool}, which has deletion_protection. Set it to false and apply that first")
	InstancesProtected = three[Word, Word, Names]("instances_protected", Warning, "spot pool {pool} has protected instances",
		"The plan would {action} it, which would be refused: {instances} cannot be terminated, by the tag gpupool/protected or termination protection. "+
			`Lift the protection, or set on_destroy = "retain" and apply that first`)
	MalformedPool = one[Foreign]("malformed_pool", Warning, "invalid import ID",
		`"{id}" is not a spot pool: write its region and its name, such as "ap-singapore/train"`)
	IdentityIncomplete = one[Word]("identity_incomplete", Warning, "invalid import identity", "The {attribute} of the spot pool is empty")
)

// These say how a plan that destroys or replaces a spot pool terminates its instances.
var (
	PoolTerminates = three[Word, Count, Paragraphs]("pool_terminates", Warning,
		"spot pool {pool}: {instances} {instances:instance|instances} to terminate", "{details}")
	PoolDetaches = three[Word, Count, Paragraphs]("pool_detaches", Warning,
		"spot pool {pool}: {instances} {instances:instance|instances} to detach", "{details}")
	// PoolInstancesUnknown and the two after it have "destroying" or "replacing".
	PoolInstancesUnknown = three[Word, Word, Foreign]("pool_instances_unknown", Warning, "spot pool {pool}: its instances are unknown",
		"{operation} it terminates all of its instances. They cannot be listed now: {error}")
	Terminates      = two[Word, Reasons]("terminates", Info, "{operation} it terminates {instances}", "")
	Detaches        = two[Word, Reasons]("detaches", Info, "{operation} it detaches {instances}", "They keep running and cost money")
	CountedNames    = two[Count, Names]("counted_names", Info, "{count} {count:instance|instances}: {instances}", "")
	PendingLaunches = one[Count]("pending_launches", Info, "up to {count} of pending launches", "")

	ObservedEarlier  = two[Instant, Foreign]("observed_earlier", Info, "that is as of {at}; observing it again failed: {error}", "")
	ActionsOfEarlier = none("actions_of_earlier", "the planned_actions that the plan removes are those of an earlier apply: nothing is launched")
	// These say what blocks a destroy.
	BlockedByProtection = one[Names]("blocked_by_protection", Warning,
		"it is refused while {instances} cannot be terminated, because of the tag gpupool/protected or termination protection", "")
	BlockedByAmbiguity = one[Some]("blocked_by_ambiguity", Warning, "it is not completed while the nodes of these are ambiguous: {instances}", "")
	AmbiguousInstance  = two[Word, Reason]("ambiguous_instance", Info, "{instance} ({why})", "")
	BlockedByCluster   = warning("blocked_by_cluster",
		"it is refused while the cluster of its nodes is unreachable, since a destroy drains them first")
	BlockedByHold = four[Word, Instant, Foreign, Word]("blocked_by_hold", Warning,
		"it is refused while the pool is on hold by {who} until {until}: {why}", "To end the hold, run gpupool release {pool}")
)

// These compare a spot pool with the market of its region.
var (
	MarketDoubts   = two[Word, Paragraphs]("market_doubts", Warning, "reading the market of {region}", "{doubts}")
	RegionUnusable = two[Word, Foreign]("region_unusable", Warning, "region {region} cannot be used", "{error}")
	ZoneUnknown    = three[Word, Foreign, Names]("zone_unknown", Warning, "unknown availability zone",
		`The region {region} has no zone "{zone}" that sells instances. It has {zones}`)
	ZoneMisspelled = four[Word, Foreign, Word, Names]("zone_misspelled", Warning, "unknown availability zone",
		`The region {region} has no zone "{zone}" that sells instances (did you mean "{nearest}"?). It has {zones}`)
	OfferingNotSold = three[Word, Word, Word]("offering_not_sold", Warning, "offering is not sold",
		"{zone} does not sell {instance_type} as {charge_type} now"+notSold)
	OfferingElsewhere = four[Word, Word, Word, Names]("offering_elsewhere", Warning, "offering is not sold",
		"{zone} does not sell {instance_type} as {charge_type} now ({zones} {zones:does|do})"+notSold)
	OfferingMisspelled = four[Word, Word, Word, Word]("offering_misspelled", Warning, "offering is not sold",
		`{zone} does not sell {instance_type} as {charge_type} now (did you mean "{nearest}"?)`+notSold)
	OfferingSoldOut = two[Word, Word]("offering_sold_out", Warning, "offering is sold out",
		"{instance_type} in {zone} is sold out now: other offerings launch instead, or the pool waits")
	OfferingAbovePrice = four[Word, Word, Price, Price]("offering_above_price", Warning, "market price is above spot_max_price",
		"{instance_type} in {zone} costs {price} an hour now, and spot_max_price is {spot_max_price}: nothing is launched there until the price falls")
	PoolAboveCost = three[Count, Price, Price]("pool_above_cost", Warning, "estimated cost is above max_hourly_cost",
		"At present prices the minimum of {minimum} {minimum:instance|instances} costs about {cost} an hour, and max_hourly_cost is {max_hourly_cost}: "+
			"nothing launches above that cost")
	ImageMissing = two[Word, Word]("image_missing", Warning, "image not found",
		"The account has no image {image} in {region}: launches are refused while it is missing")
	ImageNeedsKeys = one[Word]("image_needs_keys", Warning, "a public image needs key_ids",
		"Without key_ids, instances keep the login of their image. Tencent Cloud allows that only for custom, shared and imported images, and {image} is "+
			"a public image. Set key_ids, or use a custom image")
)

const notSold = ": nothing can be launched there. The data source gpupool_spot_offers lists all offers"

// These are about the budget of a spot pool in a plan.
var (
	BudgetBlocksLaunches = two[Word, Paragraphs]("budget_blocks_launches", Warning, "budget {budget} blocks launches",
		"At present, applying this launches no instances: {why}")
	BudgetNotYetDeclared = three[Word, Foreign, Paragraphs]("budget_not_yet_declared", Warning, "budget {budget} is not declared yet",
		"No instances are launched before it is declared, and gpupool reconcile has evaluated it: {error}. {declared_together}")
	LaunchesNeedBudget = two[Foreign, Foreign]("launches_need_budget", Warning, "no more instances are launched: {error}", "{remedy}")
	BudgetMayBeUsedUp  = four[Paragraphs, Count, Instant, Amount]("budget_may_be_used_up", Warning, "budget may be used up",
		"{left}. At the maximum of {maximum} {maximum:instance|instances}, they are used up by {at}, before the budget's window ends. "+
			"After that, nothing is launched. This assumes that the budget's pods are on its {gpus} {gpus:GPU|GPUs}")
	BudgetLeft = three[Word, Amount, Instant]("budget_left", Info, "The budget {budget} has {left} GPU-hours left (as of {at})", "")
)

// These say how a plan changes a spot pool.
var (
	// LaunchesPlanned has a headline for all pools of a region, and the others for those that are short for the same cause.
	// Terraform shows one of them.
	LaunchesPlanned = three[Word, Word, Paragraphs]("launches_planned", Warning, "new spot pools of {region} on the market at plan time",
		aboutPool)
	ShortOnMarket = four[Word, Word, Word, Paragraphs]("short_on_market", Warning,
		"new spot pools of {region} are short on the market at plan time: {cause}", aboutPool)
	ShortPlanned = four[Word, Word, Word, Paragraphs]("short_planned", Warning, "spot pools of {region} are short in this plan: {cause}", aboutPool)
	ShortApplied = four[Word, Word, Word, Paragraphs]("short_applied", Warning, "spot pools of {region} are short after the apply: {cause}", aboutPool)
	WouldLaunch  = one[Lines]("would_launch", Info, "on the market at plan time, an apply would:{decisions}", marketChanges)
	WouldLack    = three[Lines, Count, Lines]("would_lack", Warning, "on the market at plan time, an apply would:{decisions}\n"+
		"It would stay short by {missing} {missing:instance|instances}:{why}", marketChanges)
	WouldLaunchNone = one[Lines]("would_launch_none", Warning, "on the market at plan time, nothing could be launched:{why}", marketChanges)

	// LowersMinimum and the others after it are about changes.
	LowersMinimum = three[Count, Count, Count]("lowers_minimum", Warning, "lowering minimum terminates no instances",
		"The minimum changes from {from} to {to}, and maximum stays {maximum}: instances are terminated only above maximum. Lower maximum, too, for fewer")
	ChangesCurrency = two[Word, Word]("changes_currency", Warning, "prices change their currency",
		"max_hourly_cost and spot_max_price are in {from} until now, and in {to} from this apply on: change their values, too")
	LowersBase = three[Count, Count, Count]("lowers_base", Warning, lowersBase,
		"on_demand_base changes from {from} to {to}. {extra} on-demand {extra:instance|instances} above it {extra:stays|stay} until the pool is above "+
			"maximum or has a surplus. To replace {extra:it|them} with spot instances, set on_demand_fallback")
	LowersBaseReplacing = three[Count, Count, Count]("lowers_base_replacing", Warning, lowersBase,
		"on_demand_base changes from {from} to {to}. {extra} on-demand {extra:instance|instances} above it {extra:is|are} replaced once an offering has "+
			"spot instances, since the pool has on_demand_fallback")
	PoolUnrecorded = one[Word]("pool_unrecorded", Warning,
		"the store {store} has no record of it, so no run keeps its size or replaces reclaimed instances", recordsAgain)
)

const (
	aboutPool     = "Spot pool {pool}:\n{details}"
	marketChanges = "Prices and stock change: the apply checks them again before it launches."
	lowersBase    = "lowering on_demand_base terminates no instances"
	recordsAgain  = "Applying this plan records it there again. If another store has its record, do not apply: two stores would both act on it. Use that " +
		"store, or move it with gpupool store move"
)

// How far a spot pool is below its minimum, and why.
var (
	PoolShort = three[Count, Count, Lines]("pool_short", Warning, "capacity is {capacity}, below the minimum of {minimum}{why}",
		"The next apply or reconcile retries.")
	PoolShortUndeclared = four[Count, Count, Lines, Paragraphs]("pool_short_undeclared", Warning,
		"capacity is {capacity}, below the minimum of {minimum}{why}", "{declared_together}")
	ShortInPlan = three[Count, Count, Lines]("short_in_plan", Warning,
		"its capacity is {capacity} and its minimum {minimum}, and nothing can be launched now:{why}", checksAgain)
	ShorterInPlan = four[Count, Count, Count, Lines]("shorter_in_plan", Warning,
		"its capacity is {capacity} and its minimum {minimum}, and only {launches} can be launched now:{why}", checksAgain)

	// OfferingsCounted counts the skipped offerings of a charge type by their causes.
	OfferingsCounted = three[Count, Word, Reasons]("offerings_counted", Info, "{offerings} {charge_type} offerings skipped: {causes}", "")
	CauseCounted     = two[Word, Count]("cause_counted", Info, "{cause}: {offerings}", "")
	CauseCheapest    = three[Word, Count, Price]("cause_cheapest", Info, "{cause}: {offerings}, cheapest {price}", "")
	CauseFirst       = three[Word, Count, Instant]("cause_first", Info, "{cause}: {offerings}, first until {until}", "")
	// Several are several reasons on one line.
	Several = one[Reasons]("several", Info, "{reasons}", "")
)

// Why an operation on a spot pool ended early.
var (
	PoolInterrupted = warning("pool_interrupted", "it was interrupted; the next apply or gpupool reconcile continues it")
	PoolTimedOut    = warning("pool_timed_out", "it reached its timeout; the next apply or gpupool reconcile continues it")
)

const checksAgain = "The next plan or gpupool reconcile checks again."

// Why nothing is decided about a spot pool.
var (
	ObservedAccount = three[Object, Word, Word]("observed_account", Warning,
		"{object} belongs to account {account}, and what was observed to account {observed}", "Use the credentials of account {account}")
	ObservedRegion = three[Object, Word, Word]("observed_region", Warning, "{object} is in {region}, and what was observed in {observed}", "")
)
