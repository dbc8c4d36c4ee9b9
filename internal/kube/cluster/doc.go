// Package cluster is what runs ask of a cluster through the Kubernetes API:
//
//   - for budgets: pods with GPUs, nodes, the replay of the pod watch, and enforcement
//     (freezes, pauses, evictions, Events)
//   - for spot pools: the nodes that their instances become, the pods on them, drains, and
//     bootstrap tokens
//   - for stock pools: Deployments, their pods and their PodDisruptionBudgets
//   - for the agent on a node: its mark of an interruption notice
//
// What a pod holds is package gpu's to say. What is done about anything here is decided in
// the packages budget/decide, spotpool/decide and stockpool/decide. How a cluster is
// reached, and as whom, is package client's.
//
// It is large since it has the API calls of all kinds, a group of files for each: what is
// read (observe.go, scan.go, pods.go, nodes.go, replay*.go), freezes (freeze*.go), what is
// done to pods and workloads (evict.go, pause.go, workload.go), nodes of spot pools
// (pool_nodes.go, node_pods.go, notice*.go, token.go) and stock pools (stock*.go).
package cluster
