// Package reconcile is a run: its locks, the order of the kinds, its report. It
// knows kinds of declarations in one list, that of [Engine.begin].
//
// Each kind is a flow in a folder of its own, reconcile/spotpools and
// reconcile/budgets, which Terraform's operations come through as well. The kinds
// meet in documents alone: a pool asks its budget's status whether it may launch,
// and GPU-hours take the ends of instances from the pools' journals. What they
// share is the life of a record, reconcile/record, and what became of decisions,
// reconcile/outcome.
package reconcile
