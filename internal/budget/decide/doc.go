// Package decide says what to do about a GPU-hour budget.
//
// The one entry point is [Decide]: a function of a declaration, of what was metered of it,
// of what is in force and of the time, and of nothing else. It returns decisions as data,
// each with its reasons; carrying them out, and finding out what is there, happens
// elsewhere, in package reconcile/budgets.
//
// Facts (facts.go) are what follows from a situation before anything is decided. Rules
// (rule.go) then decide one thing each, in their order, by the facts alone.
package decide
