// Package launches is what the journal has of a pool's pending launches: how far each
// has come, by the table of states, and the tokens that follow from its sequence, by which
// the cloud knows a repeated request and its instances join their cluster. The journal
// composes it with the other parts.
//
// Nothing in here does IO, reads a clock or the environment.
package launches
