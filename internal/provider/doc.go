// Package provider is the Terraform provider gpupool: its configuration, and the
// list of its resources, data sources and functions.
//
// Each object has a package of its own below; what they share, the connection to
// one account, one cluster and one store, is package connection. Nothing in here
// decides about pools or budgets: that is for the core packages of these names,
// and package reconcile carries it out.
package provider
