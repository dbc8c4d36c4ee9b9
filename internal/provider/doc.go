// Package provider is the Terraform provider gpupool: its configuration, and the
// list of its resources and data sources.
//
// Each object has a package of its own below; what they share, the connection to
// one account and one store, is package connection. Nothing in here decides
// about pools: plans come from package spotpool, and package reconcile carries
// them out.
package provider
