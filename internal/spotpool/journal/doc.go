// Package journal is what the store has of a spot pool between runs: its launches, its
// fleet and its markets, each a room below this one, and events that the history may
// lack. A change of a part and the events of that change are one write.
//
// Nothing in here does IO, reads a clock or the environment.
package journal
