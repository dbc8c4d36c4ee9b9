// Package node says which node of a Kubernetes cluster an instance of the cloud is, how
// it fares there, and when that is a reason to replace it.
//
// It decides nothing about a pool, reads no clock and asks nobody: what a look at the
// cluster showed, what was remembered of earlier looks, and the time are handed in. What
// was not seen follows nothing: an instance whose node can't be told counts as what it
// was without a cluster.
package node
