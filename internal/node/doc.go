// Package node says which node of a Kubernetes cluster an instance is, in what health it
// is, and when that is a reason to replace it.
//
// It decides nothing about a pool, reads no clock and does no IO: an [Observation] of the
// cluster, the [Status] that the journal has of each instance, and the time are handed in.
// Nothing follows from what was not observed: an instance whose node is not known counts
// as it did without a cluster.
//
// Its many exported names are small values that spot pools, the cluster's client and the
// agent on a node share, a file for each: which node an instance is (match.go), its health
// (health.go), its drain (drain.go, pods.go), interruption notices (notice.go, reclaim.go),
// when to suspend replacing (suspend.go), and bootstrap tokens (token.go).
package node
