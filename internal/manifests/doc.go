// Package manifests holds what a cluster needs in order to run gpupool by itself:
// a namespace that is a store, another one for the run, two service accounts with
// the rights that they need and no others, the policies and bindings that hold
// them to these and that freezes are made of, and a CronJob. It makes objects and
// prints them; it calls nobody.
//
// The accounts are two because declaring and running are two people's work.
// gpupool-terraform writes declarations, and lifts what a budget enforced that is
// destroyed; gpupool-reconcile watches pods and enforces. There is none for
// readers: declarations are Secrets, and may hold user data.
//
// What the accounts could be abused for is a table (Powers), which the guide shows
// and tests try.
package manifests
