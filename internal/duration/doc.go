// Package duration reads and writes lengths of time as people do, wherever one is
// asked for: in pools, budgets, functions and flags alike.
package duration
