// Package kubernetes keeps a store in a namespace of a Kubernetes cluster, in
// objects that people can list:
//
//	ConfigMap gpupool.store                            what the namespace is, and its layout's version
//	Secret    gpupool.spot-pools.ap-singapore.train    a document that may hold secrets
//	ConfigMap gpupool.statuses.ap-singapore.train      any other document
//	Lease     gpupool.locks.spot--pool.ap-singapore.train  a lock that is held
//
// The label gpupool/kind has the kind of a document, and the annotation
// gpupool/key its whole key. A revision is the object's resourceVersion, so every
// write and every removal is a compare-and-swap that the API server judges. Each
// write carries a random id: where its answer was lost, the id tells whether it
// is this write or another one that took effect.
//
// A lock is free once its Lease is over. Whoever is in the same PID namespace of
// the same boot as the holder, of which the annotation gpupool/holder tells, sees
// at once whether it has ended.
//
// What stands in the documents is package declaration's.
package kubernetes
