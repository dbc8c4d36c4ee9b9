// Package gpu says how many GPUs a pod holds, and from when to when. It reads
// the objects of the Kubernetes API and does nothing else: no IO, no clock.
//
// # Whose word counts
//
// A tenant who may create pods writes all of a pod's spec, its labels, annotations
// and owner references, and may change labels and annotations at any time. So a
// pod may name a node that does not exist, ask there for more GPUs than any machine
// has, and call itself a fraction of a GPU. Of the rest of a pod, metadata's times
// are the API server's, and status is the kubelet's and the scheduler's: the server
// drops the status of a pod that is created, and tenants have no right to write it.
// Nodes, resource slices and the allocations of resource claims are written by
// kubelets, drivers and the scheduler, and the pods that reserve GPUs for fractions
// by their scheduler, in a namespace of its own.
//
// A pod's labels and namespace choose whose its hours are. That there are any, and
// how many, is what others than the tenant say:
//
//   - A pod counts once its kubelet took it: once status.startTime is set. It then
//     counts from when it was bound.
//   - One that its kubelet refused counts nothing, though it has a startTime, except
//     for what it is known to have run before (Pod.Refused).
//   - It counts at most the largest capacity seen of its node, of each extended
//     resource. The kubelet refuses what exceeds what is allocatable, but lets pass
//     what its node does not list at all, and gives the pod nothing of it
//     (removeMissingExtendedResources in pkg/kubelet/lifecycle/predicate.go of
//     Kubernetes): such a request counts nothing. The largest, since a resource's
//     capacity falls to zero while a kubelet or a device plugin restarts. Kubernetes'
//     own resources, such as cpu, are always refused where they exceed the node's.
//   - A device of a claim counts where it was allocated and is one of the pod's node,
//     or of none in particular.
//   - A fraction counts where its scheduler reserved a GPU, on the pod's node, for a
//     group that the pod names, and no more of them than the node has.
//   - Where the pod's node was not seen, now or lately, or its capacity not, what the
//     pod asks for is an estimate: Pod.Shown is 0, and nothing may be enforced
//     because of it.
package gpu
