// Package cluster is what runs ask of a cluster: what budgets see of it (pods with
// GPUs, nodes, the replay of the pod watch), and how enforcement is carried out
// through the Kubernetes API.
//
// What a pod holds is package gpu's to say, and what is done about it package
// budget's. How a cluster is reached, and as whom, is package client's.
//
// It is large since it has the API calls of all kinds, a group of files for each: what is
// read (observe.go, scan.go, pods.go, nodes.go, replay*.go), freezes (freeze*.go), what is
// done to pods and workloads (evict.go, pause.go, workload.go), nodes of spot pools
// (pool_nodes.go, node_pods.go, notice*.go, token.go) and stock pools (stock*.go).
package cluster
