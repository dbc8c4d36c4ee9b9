// Package decide says what to do about a stock pool.
//
// The one entry point is [Decide]: a function of a declaration, an observation, a
// journal, the budgets that cover the pool and the time, and of nothing else. Package
// reconcile/stockpools observes, and carries the decisions out.
//
// Rules (rule.go) decide one thing each, in their order, by what was observed (view.go)
// and what the rules before them decided (tally.go). A rule changes neither.
package decide
