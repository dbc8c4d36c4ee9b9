// Package spotpool is what is declared and observed of spot pools, and the decisions about
// them as data. What a pool remembers is in spotpool/journal, what to do about it is decided
// in spotpool/decide, and done in package reconcile/spotpools.
//
// Nothing in here does IO, reads a clock or the environment.
package spotpool
