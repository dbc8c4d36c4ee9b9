// Package cluster is what runs ask of a cluster: what budgets see of it (pods with
// GPUs, nodes, the replay of the pod watch), and how enforcement is carried out
// through the Kubernetes API.
//
// What a pod holds is package gpu's to say, and what is done about it package
// budget's. How a cluster is reached, and as whom, is package client's.
package cluster
