// Package reconcile is the one flow of every surface: lock, observe, decide,
// act, record, report. Terraform's create, update and delete and the CLI's
// reconcile all run through [Engine].
//
// What to do is decided in packages spotpool and budget; what the world answers
// comes through the interfaces [Cloud] and [Cluster] and package store. The order
// of the steps in here is the protocol.
//
// For spot pools: an intent is on record before the cloud is asked for machines,
// and ids are on record before the lock is given back.
//
// For budgets: what a look at the cluster shows is in the ledger before anything
// is judged, and judged on it before anything is enforced; what is destructive is
// decided once more on the pods of now, under the budget's lock. Budgets come
// before pools, which ask a budget's status whether they may launch.
package reconcile
