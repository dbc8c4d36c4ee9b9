// Package spotpool is the pure core of spot pools: what is declared, what was
// observed, what the journal remembers, and what to do about it.
//
// The one entry point is [Decide]: a function of a declaration, an observation,
// a journal and the time, and of nothing else. It returns decisions as data,
// each with its reasons; carrying them out, and finding out what is there,
// happens elsewhere, in package reconcile/spotpools.
//
// Its steps are files. own.go finds the pool's instances, journal_update.go brings the
// journal up to date, and intent.go holds the life of a launch. Then rules (rule.go)
// decide one thing each, in their order, by what was observed (view.go) and what the rules
// before them decided (tally.go). A rule changes neither.
//
// Nothing in here does IO, reads a clock or looks at the environment.
package spotpool
