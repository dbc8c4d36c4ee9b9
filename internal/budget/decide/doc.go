// Package decide decides what to do about a GPU-hour budget.
//
// The entry point is [Decide]: a function of a declaration, its metered usage, what is in force and
// the time. It returns decisions as data, each with its reasons. Package reconcile/budgets observes
// and carries them out.
//
// Facts (facts.go) follow from a situation before anything is decided. Rules (rule.go) then decide
// one thing each, in order, by the facts only.
package decide
