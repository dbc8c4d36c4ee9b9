// Package fleet is the journal's record of a pool's instances: when each was recorded, its
// health as a node, its drain and its end. own.go finds the pool's instances in an
// observation. The journal combines it with other parts.
//
// It does no IO, and reads neither a clock nor the environment.
package fleet
