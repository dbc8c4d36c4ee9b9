// Package decide says what to do about a spot pool.
//
// The one entry point is [Decide]: a function of a declaration, an observation,
// a journal and the time, and of nothing else. It returns decisions as data,
// each with its reasons; carrying them out, and finding out what is there,
// happens elsewhere, in package reconcile/spotpools.
//
// It brings the journal up to date, and then rules (rule.go) decide one thing each, in
// their order, by what was observed (view.go) and what the rules before them decided
// (tally.go). A rule changes neither.
package decide
