// Package reconcile is the one flow of every surface: lock, observe, decide,
// act, record, report. Terraform's create, update and delete and the CLI's
// reconcile all run through [Engine].
//
// What to do is decided in package spotpool; what the world answers comes
// through the interface [Cloud] and package store. The order of the steps in
// here is the launch protocol: an intent is on record before the cloud is asked
// for machines, and ids are on record before the lock is given back.
package reconcile
