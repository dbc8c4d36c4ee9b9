// Package spotpool is the resource gpupool_spot_pool: its schema, the conversion
// between its values and a declaration, its plans, and the calls into package
// reconcile that carry them out.
//
// What a pool should do is not decided here but in the core package of the same
// name, which is imported as core.
package spotpool
