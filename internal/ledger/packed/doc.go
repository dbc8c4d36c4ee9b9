// Package packed keeps many small values in little memory: short texts side by side,
// one copy of each value that repeats, and an index of numbers. It knows nothing of
// what they are.
package packed
