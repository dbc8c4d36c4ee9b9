// Package manifests contains what a cluster needs to run gpupool by itself. It has a namespace for
// the store and another one for runs, and two service accounts with their rights. It also has the
// policies that limit these accounts, the policies and bindings of freezes, and a CronJob. It
// creates objects and prints them, and calls no API.
//
// There are two accounts, since different people declare and run. gpupool-terraform writes
// declarations, and lifts the enforcement of a destroyed budget; gpupool-reconcile watches pods and
// enforces. There is no account for readers: declarations are Secrets, and may contain user data.
//
// Powers is a table of how the accounts could be abused. The guide shows it, and tests try it.
package manifests
