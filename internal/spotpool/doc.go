// Package spotpool is the pure core of spot pools: what is declared, what was
// observed, what the journal remembers, and what to do about it.
//
// The one entry point is [Decide]: a function of a declaration, an observation,
// a journal and the time, and of nothing else. It returns decisions as data,
// each with its reasons; carrying them out, and finding out what is there,
// happens elsewhere, behind the interfaces that package reconcile declares.
//
// Its steps are files: whose an instance is (own.go), what the journal learns of it
// (journal_update.go) and of open launches (intent.go, which holds the life of a
// launch), and then the planner's, in this order: what is asked for again
// (planner.go), ended (scale_in.go), launched (top_up.go, launch.go, candidate.go) and
// replaced (replace.go).
//
// Nothing in here does IO, reads a clock or looks at the environment.
package spotpool
