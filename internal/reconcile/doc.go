// Package reconcile is a run: its locks, the order of the kinds, its report. It names
// the kinds of declarations in kinds.go, in the order in which a run takes them; besides,
// a report has a field for each. A World is what there is to reconcile with: it gives the
// flow of one kind to whoever works on that kind, and a Runner of all to the commands.
//
// Each kind is a flow in a folder of its own, reconcile/budgets, reconcile/spotpools and
// reconcile/stockpools; Terraform's operations use the same flows. The kinds meet in
// documents alone: a pool reads its budget's status to know whether it may launch, a
// stock pool whether it may grow or is paused, and GPU-hours take the ends of instances
// from the pools' journals. Only why a stock pool's pods wait is told by what the run
// reports of spot pools. The kinds share the life of a record, reconcile/record, and what
// became of decisions, reconcile/outcome.
package reconcile
