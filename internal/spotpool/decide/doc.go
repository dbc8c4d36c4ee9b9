// Package decide decides what to do about a spot pool.
//
// Its entry point is [Decide]: a function of only a declaration, an observation, a journal
// and the time. It returns decisions as data, each with its reasons. Package
// reconcile/spotpools observes, and carries the decisions out.
//
// Decide updates the journal. Then rules (rule.go) decide one thing each, in their order,
// from the view (view.go) and the decisions of earlier rules (tally.go).
package decide
