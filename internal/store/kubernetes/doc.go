// Package kubernetes keeps a store in a namespace of a Kubernetes cluster, in objects that people
// can list:
//
//	ConfigMap gpupool.store                            the description and the version of the layout
//	Secret    gpupool.spot-pools.ap-singapore.train    a document that may hold secrets
//	ConfigMap gpupool.statuses.ap-singapore.train      any other document
//	Lease     gpupool.locks.spot--pool.ap-singapore.train  a lock that is held
//
// The label gpupool/kind has the kind of a document, and the annotation gpupool/key its whole key.
// A revision is the object's resourceVersion, so the API server checks every write and every
// removal as a compare-and-swap. Each write has a random ID. If its response was lost, the ID shows
// whether this write or another one took effect.
//
// A lock is free once its Lease has expired. A process in the same PID namespace and boot as the
// holder, which the annotation gpupool/holder names, sees at once whether it has ended.
//
// Package declaration defines the content of documents.
package kubernetes
