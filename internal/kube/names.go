package kube

// What gpupool writes on objects of a cluster.
const (
	// FieldManager names gpupool in the managed fields of what it writes.
	FieldManager = "gpupool"

	// LabelBudgetUID names the budget that a binding of the freeze policy is of.
	LabelBudgetUID = "gpupool/budget-uid"
	// LabelPausedBy names the budget that paused a workload.
	LabelPausedBy = "gpupool/paused-by"
	// AnnotationReplicas keeps how many replicas a paused workload had.
	AnnotationReplicas = "gpupool/replicas"
)
