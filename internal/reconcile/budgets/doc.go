// Package budgets is the flow of GPU-hour budgets, for every surface: observe,
// account, judge, enforce, record. Terraform's create, update and delete, gpupool
// usage and a run of gpupool reconcile all come through [Flow].
//
// What to do is decided in package budget/decide; what the world answers comes through
// the interface [Cluster] and package store. What an observation of the cluster shows is in
// the ledger (package accounting) before anything is judged, and judged on it before
// anything is enforced; what is destructive is decided once more on the pods of now, under
// the budget's lock. What is paused is kept by package pauses.
//
// An enforcer has what the budgets of one run share, a work is what a run does about one
// budget, and an actor carries out its decisions under its lock, some in each turn. There is
// no pass: an apply enforces nothing, and a destroy lifts what is in force by a lifter.
package budgets
