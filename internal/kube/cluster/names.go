package cluster

// What gpupool writes on objects of a cluster.
const (
	// FieldManager names gpupool in the managed fields of what it writes.
	FieldManager = "gpupool"

	// LabelBudgetUID names the budget that a binding of the freeze policy is of.
	LabelBudgetUID = "gpupool/budget-uid"
)
