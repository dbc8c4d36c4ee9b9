// Package spotpool is the pure core of spot pools: what is declared, what was
// observed, what the journal remembers, and what to do about it.
//
// The one entry point is [Decide]: a function of a declaration, an observation,
// a journal and the time, and of nothing else. It returns decisions as data,
// each with its reasons; carrying them out, and finding out what is there,
// happens elsewhere, in package reconcile/spotpools.
//
// Its steps are files. own.go tells which instances are the pool's, journal_update.go
// brings the journal up to date, and intent.go holds the life of a launch. Then the
// planner repeats open launches (planner.go), ends instances (scale_in.go), launches
// them (top_up.go, launch.go, candidate.go) and replaces them (replace.go).
//
// Nothing in here does IO, reads a clock or looks at the environment.
package spotpool
