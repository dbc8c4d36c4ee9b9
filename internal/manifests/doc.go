// Package manifests holds what a cluster needs in order to run gpupool by itself:
// a namespace that is a store, two service accounts with the rights that they
// need and no others, the policy behind freezes, and a CronJob. It makes objects
// and prints them; it calls nobody.
//
// The accounts are two because declaring and running are two people's work.
// gpupool-terraform writes declarations, and lifts what a budget enforced that is
// destroyed; gpupool-reconcile watches pods and enforces. There is none for readers:
// declarations are Secrets, and whoever may read those of the namespace reads the
// cloud's credentials too.
package manifests
