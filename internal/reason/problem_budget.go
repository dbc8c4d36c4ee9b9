package reason

// Problems of the limit and the window of a budget.
var (
	InvalidLimit = unreadable("invalid_limit",
		`Write the limit in GPU-hours above zero, such as "100" or "12.5", with at most three digits after the point.`)
	Repeated = one[Quoted]("repeated", Warning, "{value} is there already", "Leave one of them out.")
	NoWindow = remedied("no_window",
		"the budget has neither a window nor a period",
		`Write window = "24h" for a rolling window, or period = "month" for the calendar's.`)
	TwoWindows     = remedied("two_windows", "the budget has both a window and a period", "Leave one of them out.")
	InvalidWindow  = unreadable("invalid_window", `Write a length between a minute and 400 days, such as "24h" or "7d".`)
	ZoneOfWindow   = remedied("zone_of_window", "a time zone belongs to a period", "Leave it out: a rolling window is as long in every zone.")
	BudgetTimeZone = unreadable("budget_time_zone", `Name a zone such as "Asia/Singapore", or leave it out for UTC.`)

	NoThreshold       = one[Value]("no_threshold", Warning, "no threshold is declared", "Leave it out for {defaults}, or name at least one.")
	ThresholdRange    = number("threshold_range", "", "Write percents of the limit.")
	ThresholdRepeated = one[Count]("threshold_repeated", Warning, "{percent} is there already", "Leave one of them out.")
	ThresholdOrder    = two[Count, Count]("threshold_order", Warning, "{percent} comes after {earlier}", "List the thresholds from low to high.")
	ThresholdFraction = two[Value, Count]("threshold_fraction", Warning,
		notWhole,
		"Write percents of the limit from 1 to {most}, without a fraction.")
	ThresholdsBelow100 = one[Count]("thresholds_below_100", Warning,
		"the highest threshold is {percent}%, so nothing reports that the limit is reached",
		"Add 100 to get an alert when the limit is reached.")
)

const notWhole = "{value} is not a whole percent"

// Problems of the pods and the GPUs that a budget counts.
var (
	EmptySelector = remedied("empty_selector",
		"the selector is empty",
		"Name namespaces or labels: a selector without any would take in every pod of the cluster.")
	NamespaceName = two[Quoted, Foreign]("namespace_name", Warning,
		"invalid namespace name {namespace}: {error}",
		`Write it as "kubectl get namespaces" does.`)
	LabelKey = two[Quoted, Foreign]("label_key", Warning,
		"invalid label key {key}: {error}",
		`Write it as Kubernetes does, such as "team" or "example.com/team".`)
	LabelValue = two[Quoted, Foreign]("label_value", Warning,
		"invalid label value {value}: {error}",
		`Use at most 63 letters, digits, "-", "_" and ".", with a letter or digit first and last.`)
	OperatorNoValues = one[Word]("operator_no_values", Warning,
		"the operator {operator} has no values",
		"List at least one value, or use Exists or DoesNotExist.")
	OperatorValues    = one[Word]("operator_values", Warning, "the operator {operator} takes no values", "Leave the values out, or use In or NotIn.")
	InvalidExpression = unreadable("invalid_expression", "Write it as a label selector of Kubernetes.")

	ResourceName = one[Quoted]("resource_name", Warning,
		"invalid resource name {resource}",
		`Write it as a pod's requests do, such as "nvidia.com/gpu".`)
	ModelName = one[Quoted]("model_name", Warning,
		"{model} is no GPU model or instance type",
		`Write it as the node's label does, such as "Tesla-T4", or as Tencent Cloud does, such as "GN7.2XLARGE32".`)
	InvalidWeight = unreadable("invalid_weight", `Write GPUs a unit, such as "1", "0.5" or "1/7".`)
	ZeroWeight    = remedied("zero_weight", "a weight of 0 counts nothing", "Remove it to count them.")
)

// age, grace, podGrace and gap are the remedies of durations of a budget.
const (
	age      = `Write how old the last judgement may be that lets a spot pool launch, such as "1h".`
	grace    = `Write how long nothing is done after the limit was reached, such as "10m".`
	podGrace = `Write how long pods that are evicted may take to end, such as "5m".`
	gap      = `Write how long observation may have been interrupted for pods to be evicted on estimates, such as "15m".`
)

// Problems of the durations of a budget.
var (
	InvalidStatusAge = unreadable("invalid_status_age", age)
	StatusAgeRange   = length("status_age_range", age)
	InvalidGrace     = unreadable("invalid_grace", grace)
	GraceRange       = length("grace_range", grace)
	InvalidPodGrace  = unreadable("invalid_pod_grace", podGrace)
	PodGraceRange    = length("pod_grace_range", podGrace)
	InvalidGap       = unreadable("invalid_gap", gap)
	GapRange         = length("gap_range", gap)
)

// Problems of the enforcement of a budget.
var (
	NoFallback = one[Word]("no_fallback", Warning,
		"the action {action} has no fallback: only a pause may evict",
		"Leave it out, or use the action pause.")
	EvictionsRange    = four[Count, Count, Count, Count]("evictions_range", Warning, outOfRange, "Leave it out for {default}.")
	NoEvictionsPerRun = number("no_evictions_per_run", "", "Use the action freeze or alert_only to have nothing evicted.")
	EvictionsFraction = three[Value, Count, Count]("evictions_fraction", Warning,
		"{value} is not a whole number of pods",
		"Write a number from 1 to {most}, or leave it out for {default}.")
	PriorityClassName = one[Quoted]("priority_class_name", Warning,
		"invalid name of a priority class {class}",
		`Write it as "kubectl get priorityclasses" does.`)
)

// Warnings of a valid budget that is probably a mistake.
var (
	GraceAboveWindow = two[Value, Value]("grace_above_window", Warning,
		"the grace period of {grace} is no shorter than the window of {window}, in which usage passes by itself",
		"Shorten it, or choose a longer window.")
	SelectedByTenant = one[Reason]("selected_by_tenant", Warning,
		"its pods are selected only by labels, in all namespaces. Everyone who can create a pod can label it into this budget and use the "+
			"budget up, and {threat} for it",
		"Name the budget's namespaces, or their labels in namespace_labels: those are not a tenant's to choose.")
	SparedNamespaces = two[Names, Word]("spared_namespaces", Warning,
		"pods of {namespaces} count, and are never {treated}",
		"Leave them out of the selector, or out of what is protected.")
	NoGrace    = remedied("no_grace", "pods end in the run that finds the limit reached", "A few minutes leave time to save work.")
	GapTooLong = one[Value]("gap_too_long", Warning,
		"with max_gap {gap}, pods may be evicted because of estimates only",
		`Keep it near the time between two runs, such as "15m".`)
)

// Effects on others if a tenant uses their budget up.
var (
	OthersEvicted = warning("others_evicted", "others' pods are evicted")
	OthersPaused  = warning("others_paused", "others' workloads are paused")
	OthersFrozen  = warning("others_frozen", "others' new pods are kept out")
)
