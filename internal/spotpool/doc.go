// Package spotpool is the pure core of spot pools: what is declared, what was
// observed, what the journal remembers, and what to do about it.
//
// The one entry point is [Decide]: a function of a declaration, an observation,
// a journal and the time, and of nothing else. It returns decisions as data,
// each with its reasons; carrying them out, and finding out what is there,
// happens elsewhere, behind the interfaces that package reconcile declares.
//
// Nothing in here does IO, reads a clock or looks at the environment.
package spotpool
