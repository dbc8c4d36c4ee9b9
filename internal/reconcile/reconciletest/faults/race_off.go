//go:build !race

package faults

// sampled is which of the rows of a matrix are played: each one.
const sampled = 1
