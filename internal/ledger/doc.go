// Package ledger keeps the intervals in which pods held GPUs, so that they
// outlive the pods. It knows nothing of Kubernetes and does no IO: it merges,
// closes, shards and encodes.
package ledger
