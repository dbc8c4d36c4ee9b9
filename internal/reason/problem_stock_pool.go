package reason

// Problems of a stock pool.
var (
	InvalidNamespace = one[Quoted]("invalid_namespace", Warning,
		"{namespace} is not a namespace name",
		`Name a namespace of the cluster, such as "default".`)
	InvalidSpecName = one[Quoted]("invalid_spec_name", Warning,
		"{name} is not a valid spec name",
		`Use at most 63 letters, digits, hyphens, underscores and dots, with a letter or digit first and last, such as "g1.1".`)
	InvalidImage = one[Quoted]("invalid_image", Warning,
		"{image} is not an image reference",
		`Use an image reference, such as "registry.example.com/team/runtime:1.4".`)
	GPUsRange   = number("gpus_range", "", "Set the number of GPUs per pod, such as 1.")
	GPUResource = two[Quoted, Quoted]("gpu_resource_name", Warning,
		"{resource} is not an extended resource name",
		"Use the name from a pod's resource requests, or omit it for {default}.")
	InvalidMemory  = quantity("invalid_memory", memory)
	MemoryTooSmall = tooSmall("memory_too_small", memory)
	InvalidCPU     = quantity("invalid_cpu", cpu)
	CPUTooSmall    = tooSmall("cpu_too_small", cpu)

	ReplicasRange        = number("replicas_range", "", "Set the number of pods to keep.")
	MaximumRequired      = remedied("maximum_required", `replicas_policy = "available" requires maximum`, "Set the most pods, in use or not.")
	MaximumPodsRange     = number("maximum_pods_range", "", "It also counts pods in use, so it must be at least replicas.")
	MaximumOfOtherPolicy = remedied("maximum_of_other_policy",
		`maximum requires replicas_policy = "available"`,
		`Omit it, or set replicas_policy = "available".`)
	SelectorRequired = remedied("selector_required",
		`replicas_policy = "available" requires allocated_selector`,
		`Select the labels of a pod in use, such as "session".`)
	MinAvailableRange = number("min_available_range", "", "Set how many pods evictions must leave available, or omit pod_disruption_budget.")
	InvalidSelector   = two[Quoted, Foreign]("invalid_selector", Warning,
		"invalid selector {selector}: {error}",
		`Use the syntax of kubectl --selector, such as "session" or "state=claimed".`)
	SelectorOfAll = remedied("selector_of_all",
		"it selects every pod of the pool from the start, so none would be available",
		"Select a label that a pod gets when it is claimed.")
	NoEvictions = remedied("no_evictions",
		"no pod may be evicted, so its nodes cannot be drained",
		"Allow the eviction of at least one pod.")
)

const (
	memory = `such as "16Gi".`
	cpu    = `such as "4" or "500m".`
)

func quantity(code Code, examples string) func(Quoted) Reason {
	return one[Quoted](code, Warning, "{quantity} is not a quantity", "Use a Kubernetes quantity, "+examples)
}

func tooSmall(code Code, examples string) func(Value) Reason {
	return one[Value](code, Warning, "{quantity} is not greater than zero", "Use a larger quantity, "+examples)
}

// Problems of the container and the placement of a stock pool's pods.
var (
	InvalidVariable = one[Quoted]("invalid_variable", Warning,
		"{name} is not an environment variable name",
		"Use letters, digits, underscores, dots and hyphens, and no digit first.")
	VariableRepeated = one[Value]("variable_repeated", Warning, "the variable {name} is in env and in env_wo", "Remove it from one of them.")
	PortRange        = number("port_range", "", "Set the port that the container listens on.")
	InvalidPortName  = one[Quoted]("invalid_port_name", Warning,
		"{name} is not a port name",
		"Use at most 15 lower-case letters, digits and hyphens, at least one of them a letter.")
	PortRepeated = two[Count, Value]("port_repeated", Warning, "duplicate port {port}/{protocol} or port name", "Remove one of them.")

	LabelReserved   = one[Word]("label_reserved", Warning, "the label {label} is reserved for gpupool", "Remove it.")
	InvalidLabelKey = one[Quoted]("invalid_label_key", Warning,
		"{key} is not a label key",
		`Use a Kubernetes label key, such as "team" or "example.com/team".`)
	InvalidLabel = one[Quoted]("invalid_label_value", Warning,
		"{value} is not a label value",
		"Use at most 63 letters, digits, hyphens, underscores and dots, with a letter or digit first and last.")
	TolerationNoKey = remedied("toleration_no_key", "the toleration has no key", `Set the key of a taint, or operator = "Exists" for all taints.`)
	InvalidTaintKey = one[Quoted]("invalid_taint_key", Warning, "{key} is not a taint key", "Use the key of the node's taint.")
	ExistsTakesNone = remedied("exists_takes_no_value", `operator = "Exists" takes no value`, `Remove it, or set operator = "Equal".`)
	SecretUnnamed   = remedied("secret_unnamed", "it is empty", "Name a Secret in the pool's namespace.")
	SecretRepeated  = one[Value]("secret_repeated", Warning, "duplicate Secret {secret}", "Remove one of them.")
	InvalidObject   = one[Quoted]("invalid_object_name", Warning, "{name} is not an object name", "Use the name that kubectl get prints.")
)
