// Package fleet is what the journal has of each of a pool's instances: when it was recorded,
// how it fares as a node, how far its drain is, and how it ended. own.go finds the pool's
// instances in an observation. The journal composes it with the other parts.
//
// Nothing in here does IO, reads a clock or the environment.
package fleet
