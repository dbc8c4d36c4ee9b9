// Package spotpools is the flow of spot pools, for every surface: lock, observe,
// decide, act, record, settle. Terraform's create, update and delete and a run
// of gpupool reconcile all come through [Flow].
//
// What to do is decided in package spotpool; what the world answers comes
// through the interface [Cloud] and package store. The order of the steps in here
// is the protocol: an intent is on record before the cloud is asked for machines,
// and ids are on record before the lock is given back.
//
// A pool asks its budget's status in the store whether it may launch.
package spotpools
