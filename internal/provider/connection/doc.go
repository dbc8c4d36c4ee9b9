// Package connection is what the provider hands to its resources and data
// sources: the way to one cloud account, one cluster and one store, each opened
// when it is first needed, and how errors of any of them become diagnostics.
package connection
