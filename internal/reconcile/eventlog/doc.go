// Package eventlog keeps the history in a store: it adds events, answers what is asked
// of them, and drops what is too old. What events are, and how a day of them becomes
// documents, is package history's.
//
// Adding reads the head of the events' day, and writes it where it did not have them;
// who meets another writer reads again. Whatever else changes documents is done under
// the lock "history", by one at a time: a head that is full is divided, and the first
// who adds anything to a day makes the days before it compact, and drops what is past
// what is kept. Documents that nothing tells of are left by who was killed in between;
// these go, too.
//
// Nothing about the history keeps a run from anything, or makes it act otherwise: what
// goes wrong here is a warning.
package eventlog
