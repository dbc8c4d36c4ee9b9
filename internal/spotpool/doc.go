// Package spotpool is what is declared and observed of spot pools, and the decisions about
// them as data. What the store has of a pool between runs is spotpool/journal's; what to do
// about it is decided in spotpool/decide, and done in package reconcile/spotpools.
//
// It exports more names than other packages: most are the values that arguments of the
// resource may have, kinds and reasons of decisions, and what a cloud hands over. Each
// argument, and each part of an observation, has a file of its own; validate*.go says
// which declarations are valid.
//
// Nothing in here does IO, reads a clock or the environment.
package spotpool
