// Package cluster makes the Kubernetes API calls of runs:
//
//   - for budgets: pods with GPUs, nodes, the replay of the pod watch, and enforcement
//     (freezes, pauses, evictions, Events)
//   - for spot pools: the nodes of their instances, the pods on them, drains, and
//     bootstrap tokens
//   - for stock pools: Deployments, their pods and their PodDisruptionBudgets
//   - for the agent on a node: its mark of an interruption notice
//
// Package gpu computes what a pod holds. Packages budget/decide, spotpool/decide and stockpool/decide choose
// what to do. Package client connects to the cluster.
//
// It is large because it has the API calls of all kinds, in a group of files each:
//
//   - observation: observe.go, scan.go, pods.go, nodes.go, replay*.go
//   - freezes: freeze*.go
//   - enforcement on pods and workloads: evict.go, pause.go, workload.go
//   - nodes of spot pools: pool_nodes.go, node_pods.go, notice*.go, token.go
//   - stock pools: stock*.go
package cluster
