//go:build race

package faults

// sampled is which of the rows of a matrix are played: every sixth. The race detector makes
// each take many times as long; make test plays all of them without it.
const sampled = 6
