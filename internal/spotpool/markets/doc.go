// Package markets is what a pool remembers of the markets that it launches in: which of
// them cool down, and what those in use cost. The journal composes it with the other parts.
//
// Nothing in here does IO, reads a clock or the environment.
package markets
