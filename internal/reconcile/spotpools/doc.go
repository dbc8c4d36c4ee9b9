// Package spotpools is the flow of spot pools: lock, observe, decide, act, record,
// settle. Terraform's create, update and delete and a run of gpupool reconcile all
// use the same [Flow].
//
// Package spotpool/decide decides; the interface [Cloud] and package store reach the
// world. The order of the steps in here is the protocol: a pending launch is on record
// before the cloud is asked for machines, and ids are on record before the lock is
// released.
//
// A work is what a run does about one pool, a pass is one operation on a pool, of a run or
// of an apply, and an actor carries out the decisions of a pass under the pool's lock.
//
// A pool reads its budget's status in the store to know whether it may launch.
//
// It is large since all of this acts on one pool under one lock: the operations of
// Terraform (create.go, update.go, delete.go, observe.go), those of a run (run.go, work.go),
// what both observe (cloud_observer.go, cluster_observer.go, pool_observation.go) and do
// (act.go, drain.go, token.go, settle.go), and what is reported (report.go, status.go).
package spotpools
