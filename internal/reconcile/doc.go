// Package reconcile is a run: its locks, the order of the kinds, its report. kinds.go lists the
// kinds of declarations in the order of a run; a report has a field for each. A World is the
// environment of runs. It makes the flow of one kind, and a Runner of all kinds for the
// commands.
//
// Each kind is a flow in a folder of its own: reconcile/budgets, reconcile/spotpools and
// reconcile/stockpools. Terraform's operations use the same flows. The kinds only meet in
// documents. A pool reads its budget's status to decide whether it may launch, and a stock pool
// whether it may grow or must pause. GPU-hours take the ends of instances from the pools'
// journals. The one exception is why a stock pool's pods are pending, which follows from the
// run's report of spot pools.
//
// The kinds share the lifecycle of a record, reconcile/record, and the outcomes of decisions,
// reconcile/outcome.
package reconcile
