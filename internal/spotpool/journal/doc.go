// Package journal is what the store keeps of a spot pool between runs: its launches, fleet and
// markets, and events that the history may lack. A change of a part and its events are one
// write.
//
// It does no IO, and reads neither a clock nor the environment.
package journal
