// Package kube is the cluster adapter: how to reach a cluster and as whom, what
// budgets see of it (pods with GPUs, nodes, the replay of the pod watch), and
// how enforcement is carried out through the Kubernetes API.
//
// What a pod holds is package gpu's to say, and what is done about it package
// budget's. Documents that outlive a run are kept by store/kubernetes.
package kube
