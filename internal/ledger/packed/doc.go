// Package packed stores many small values in little memory: short texts in shared pages, one copy
// of each repeated value, and an index of numbers.
package packed
