package reason

// Problems of the size and the offerings of a spot pool.
var (
	InvalidRegion   = one[Quoted]("invalid_region", Warning, "invalid region {region}", `Write it as Tencent Cloud does, such as "ap-singapore".`)
	NegativeMinimum = one[Count]("negative_minimum", Warning, "minimum is {minimum}, below 0", "Set minimum to 0 for a pool that may be empty.")
	MaximumRange    = number("maximum_range", "", "Split a larger pool: more than {most} instances cannot be listed within seconds.")
	MinimumTooHigh  = two[Count, Count]("minimum_too_high", Warning,
		"minimum is {minimum}, above maximum {maximum}",
		"Raise maximum to at least minimum, or lower minimum.")
	NoLaunchesPerRun = one[Count]("no_launches_per_run", Warning,
		"max_launches_per_run is {launches}: no run could launch instances",
		"Set it to at least 1, or omit it.")
	NegativeCost       = remedied("negative_cost", "max_hourly_cost is below 0", "Write a price an hour above 0, or omit it for no limit.")
	LaunchTimeoutRange = length("launch_timeout_range", `Launches take from one minute to more than five: "15m" is enough for all.`)
	CooldownRange      = length("cooldown_range", `Write how long an offering is avoided after it was sold out, such as "20m".`)
	SurplusRange       = length("surplus_range", `Write how long a surplus that a replacement left may stay, such as "1h", or "0s" to keep it.`)
	NegativeProject    = one[Count]("negative_project", Warning, "project_id is {project}, below 0", "Use 0 for the default project.")
	NoOffering         = remedied("no_offering",
		"the pool has no offering",
		"List at least one availability zone and instance type in which the pool may launch.")
	InvalidType = one[Quoted]("invalid_instance_type", Warning,
		"invalid instance type {type}",
		`Write it as Tencent Cloud does, such as "GN7.2XLARGE32"; gpupool offers lists them.`)
	OfferingRepeated = three[Value, Value, Count]("offering_repeated", Warning,
		"{type} in {zone} is listed already, as offerings[{earlier}]",
		"Omit one of them: stock, price and cooldowns are those of the zone and type.")
	NegativePrice = remedied("negative_price",
		"spot_max_price is below 0",
		"Write a price an hour above 0, or omit it to pay the market price.")
	PriceOfOnDemand = remedied("price_of_on_demand",
		"on-demand instances have a fixed price, and no cap",
		`Omit it, or set instance_charge_type to "SPOTPAID"; max_hourly_cost caps what the whole pool costs.`)
	NoZone = one[Quoted]("no_zone", Warning,
		"the offering has no availability zone",
		"Name a zone of the pool's region, such as {example}.")
	ZoneOfOther = three[Quoted, Quoted, Quoted]("zone_of_other_region", Warning,
		zoneOfOther,
		"Name a zone of that region, such as {example}, or declare another pool for the other region.")
	RegionMisspelled = three[Quoted, Quoted, Quoted]("region_misspelled", Warning,
		zoneOfOther,
		"Did you mean the region {meant}? If not, correct the zone, or declare another pool for the other region.")
	InvalidZone = two[Quoted, Quoted]("invalid_zone", Warning,
		"invalid availability zone {zone}",
		"Write it as Tencent Cloud does, such as {example}.")
	BaseRange = two[Count, Count]("on_demand_base_range", Warning,
		"on_demand_base is {base}, and the pool has 0 to {maximum} instances",
		"Set it to how many of the pool's instances are always on-demand.")
	FallbackOfOnDemand = one[Word]("fallback_of_on_demand", Warning,
		"there is nothing to fall back from: the pool's instances are {charge_type}",
		`Omit it, or set instance_charge_type to "SPOTPAID".`)
	FallbackRange = two[Count, Count]("fallback_range", Warning,
		"{fallback} on-demand instances are out of range: it must be between 1 and maximum {maximum}",
		"Omit on_demand_fallback for no on-demand instances.")
	FallbackAfterRange = length("fallback_after_range", `Write how long the pool must have been short of spot instances, such as "30m".`)
	NegativeSurge      = one[Count]("negative_surge", Warning,
		"max_surge is {surge}, below 0",
		"Set it to how many instances above minimum a refresh may launch.")
	NegativeUnavailable = one[Count]("negative_unavailable", Warning,
		"max_unavailable is {unavailable}, below 0",
		"Set it to how many instances below minimum a refresh may leave.")
	RefreshStands = remedied("refresh_stands",
		"a rolling refresh with max_surge 0 and max_unavailable 0 cannot replace instances",
		"Set max_surge or max_unavailable to at least 1.")
	RefreshNoRoom = one[Count]("refresh_no_room", Warning,
		"minimum and maximum are both {maximum}, so a rolling refresh with max_unavailable 0 has no room to replace instances",
		"Set max_unavailable to at least 1, or raise maximum.")
)

const zoneOfOther = "the zone {zone} is not one of the pool's region {region}"

// Problems of the nodes of a spot pool, of its budget and of the token of its launches.
var (
	JoinTimeoutRange      = length("join_timeout_range", `Write how long an instance may run without becoming a Ready node, such as "15m".`)
	UnhealthyTimeoutRange = length("unhealthy_timeout_range", `Write how long a node may be not Ready, such as "10m".`)
	ReplacementsRange     = number("replacements_range", "", "Set it to how many instances one run may begin to replace.")
	DrainTimeoutRange     = length("drain_timeout_range", `Write how long a drain may take, such as "10m".`)
	NodeLabelKey          = one[Quoted]("node_label_key", Warning,
		"invalid label key {key}",
		`Write it as Kubernetes does, such as "pool" or "example.com/pool".`)
	NodeLabelValue = two[Quoted, Value]("node_label_value", Warning,
		"invalid value {value} of the label {key}",
		"Use at most 63 letters, digits, and -, _ and . between them.")

	BudgetGraceRange = length("budget_grace_range", `Write how long the budget may be exceeded before instances are terminated, such as "30m".`)
	DrainNoBudget    = remedied("drain_no_budget",
		`on_budget_exceeded is "drain", and the pool has no budget`,
		`Name the budget, or set on_budget_exceeded to "keep".`)
	DrainNoNodes = remedied("drain_no_nodes",
		`on_budget_exceeded is "drain", and the pool has no nodes to drain`,
		`Add a nodes block, so that the instances are nodes of the provider's cluster, or set on_budget_exceeded to "keep".`)

	TokenUndeclared = one[Word]("token_undeclared", Warning,
		"user_data_raw has the placeholder {placeholder}, and there is no bootstrap_token",
		`Set the groups of the instances' token, such as bootstrap_token = { groups = ["system:bootstrappers:kubeadm:default-node-token"] }, `+
			`or remove the placeholder from user_data_raw.`)
	TokenUnread = one[Word]("token_unread", Warning,
		"user data has no placeholder for the bootstrap token, so no instance would get one",
		"Write {placeholder} where the instance reads its token, or omit bootstrap_token.")
	TokenNoNodes = remedied("token_no_nodes",
		"the pool has a bootstrap_token, and no nodes",
		"Add nodes = {}: the pool's nodes show when an instance has joined, and its token is deleted.")
	TokenNoGroup = remedied("token_no_group",
		"the bootstrap token has no group, and gives no rights",
		`Set a group that may join the cluster: "system:bootstrappers:kubeadm:default-node-token" in a kubeadm cluster.`)
	TokenGroup = one[Quoted]("token_group", Warning,
		"invalid bootstrap token group {group}",
		"Write system:bootstrappers: and then 1 to 256 lower-case letters, digits, colons and hyphens, with a letter or digit last.")
	TokenTTLRange = length("token_ttl_range", `Write how long an instance may take to join after its launch, such as "30m".`)
)
