// Package budget is the resource gpupool_budget: its schema, the conversion
// between its values and a declaration, its plans, and the calls into package
// reconcile that carry them out.
//
// Whom a budget covers and what it has used is not decided here but in the core
// package of the same name, which is imported as core.
package budget
