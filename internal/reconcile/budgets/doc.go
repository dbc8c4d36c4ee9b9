// Package budgets implements GPU-hour budgets for every surface: observe, account, judge, enforce, record.
// Terraform's create, update and delete, gpupool usage and a run of gpupool reconcile all use [Flow].
//
// Package budget/decide chooses what to do. The interface [Cluster] and package store connect to the cluster
// and the documents. Package accounting enters an observation into the ledger before it is judged, and
// package pauses keeps the pauses. Destructive actions are decided once more on a fresh list of pods, under
// the budget's lock.
//
// An enforcer has what the budgets of one run share, and a work has the steps of a run for one budget. An
// actor carries out its decisions under its lock, some in each turn. There is no pass: an apply enforces
// nothing, and a destroy lifts measures with a lifter.
package budgets
