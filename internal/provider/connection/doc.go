// Package connection is what the provider hands to its resources and data
// sources: the way to one cloud account and one store, opened when the first
// pool is touched, and how errors of either become diagnostics.
package connection
