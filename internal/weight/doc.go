// Package weight reads what a unit of something is worth, in GPUs, wherever one
// is asked for: in budgets, functions and flags alike. What is worth how much
// lives elsewhere.
package weight
