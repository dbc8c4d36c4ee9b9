// Package spotpool is the pure core of spot pools: what is declared, what was
// observed, and what the journal remembers. What to do about it is decided in
// spotpool/decide, and done in package reconcile/spotpools.
//
// own.go finds the pool's instances, journal_update.go brings the journal up to date, and
// intent.go holds the life of a launch.
//
// Nothing in here does IO, reads a clock or looks at the environment.
package spotpool
