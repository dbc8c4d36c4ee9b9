// Package oncall plays incidents among thirty healthy pools, on the local CVM and a real
// Kubernetes. It checks the operator's screen: 80 columns by 24 rows must name the cause and
// the remedy. The package contains only tests.
package oncall
