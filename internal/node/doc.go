// Package node matches the instances of a pool with the nodes of a Kubernetes cluster, tracks their health,
// and finds reasons to replace them.
//
// It makes no decisions about a pool, reads no clock and does no IO. Its input is an [Observation] of the
// cluster, the [Status] of each instance in the journal, and the time. Missing observations have no
// consequences: an instance whose node is not known counts as it did without a cluster.
//
// Its exported names are small values that spot pools, the cluster's client and the agent on a node share, in
// a file each:
//
//   - match.go: the nodes of instances
//   - health.go: their health
//   - drain.go, pods.go: their drain
//   - notice.go, reclaim.go: interruption notices
//   - suspend.go: when replacing is suspended
//   - token.go: bootstrap tokens
package node
