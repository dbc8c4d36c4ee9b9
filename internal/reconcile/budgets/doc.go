// Package budgets is the flow of GPU-hour budgets, for every surface: look,
// account, judge, enforce, record. Terraform's create, update and delete, gpupool
// usage and a run of gpupool reconcile all come through [Flow].
//
// What to do is decided in package budget; what the world answers comes through
// the interface [Cluster] and package store. What a look at the cluster shows is in
// the ledger before anything is judged, and judged on it before anything is
// enforced; what is destructive is decided once more on the pods of now, under the
// budget's lock.
package budgets
