// Package spotpools is the flow of spot pools: lock, observe, decide, act, record, settle.
// Terraform's create, update and delete and gpupool reconcile use the same [Flow].
//
// Package spotpool/decide decides. The order of the steps is the protocol: a pending launch
// is recorded before its request, and IDs are recorded before the lock is released.
//
// A work is the work of a run on one pool. A pass is one operation on a pool, of a run or an
// apply. An actor carries out the decisions of a pass under the pool's lock.
//
// The package is large, since all of it acts on one pool under one lock:
//
//   - Terraform's operations: create.go, update.go, delete.go, observe.go
//   - those of a run: run.go, work.go
//   - observations: cloud_observer.go, cluster_observer.go, pool_observation.go
//   - actions: act.go, drain.go, token.go, settle.go
//   - reports: report.go, status.go
package spotpools
