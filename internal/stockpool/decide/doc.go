// Package decide decides what to do about a stock pool.
//
// The entry point is [Decide]. It depends on nothing but the declaration, an observation, the
// journal, the budgets that cover the pool and the time. Package reconcile/stockpools observes,
// and carries the decisions out.
//
// Rules (rule.go) run in order and decide one thing each. They read the observation (view.go)
// and what earlier rules decided (tally.go), and change neither.
package decide
