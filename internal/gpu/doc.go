// Package gpu computes how many GPUs a pod holds, and from when to when. It reads the objects of
// the Kubernetes API and does nothing else: no IO, no clock.
//
// # Trust
//
// A tenant who may create pods writes all of a pod's spec, labels, annotations and owner
// references. Labels and annotations can change at any time. So a pod may name a node that does not
// exist, request any number of GPUs, or declare itself a fraction of a GPU. The API server writes
// the times in metadata; the kubelet and the scheduler write status. The server drops the status of
// a pod that is created, and tenants have no right to write it. Kubelets, drivers and the scheduler
// write nodes, resource slices and the allocations of resource claims. The scheduler of fractions
// creates the pods that reserve GPUs for fractions, in a namespace of its own.
//
// A pod's labels and namespace choose its budget. Whether it counts, and how much, does not depend
// on what the tenant wrote:
//
//   - A pod counts once its kubelet accepted it: once status.startTime is set. It then
//     counts from when it was bound.
//   - A pod that its kubelet rejected counts nothing, though it has a startTime, except
//     for what it is known to have run before (Pod.Refused).
//   - It counts at most the largest observed capacity of its node, of each extended
//     resource. The kubelet rejects requests above the allocatable amount. It accepts a
//     resource that its node does not list, and gives the pod none of it: such a request
//     counts nothing (removeMissingExtendedResources of Kubernetes). The largest capacity
//     counts, since it falls to zero while a kubelet or a device plugin restarts. The
//     kubelet always rejects requests of Kubernetes' own resources, such as cpu, above
//     the capacity.
//   - A device of a claim counts if it was allocated and belongs to the pod's node, or
//     to no single node.
//   - A fraction counts if its scheduler reserved a GPU, on the pod's node, for a group
//     that the pod names. At most as many count as the node has.
//   - If the pod's node or its capacity was not observed recently, the pod's requests
//     are an estimate. Pod.Shown is then 0, and nothing may be enforced because of it.
//   - Programs on a node add the labels about its GPUs after it registers. Those of its
//     first ten minutes count for all of a pod's time; later ones lower no recorded hours.
package gpu
