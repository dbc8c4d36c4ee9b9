// Package kube is the cluster adapter: it looks at pods and nodes, replays the
// pod watch, and carries enforcement out through the Kubernetes API.
package kube
