// Package markets is what the journal has of the markets that a pool launches in: which of
// them cool down, and what those in use cost. The journal composes it with the other
// parts.
//
// Nothing in here does IO, reads a clock or the environment.
package markets
