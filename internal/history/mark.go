package history

import "hash/fnv"

// mark is a hash of an event's ID, which is a hash itself.
func mark(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // never fails
	return h.Sum64()
}

// EventSet is a set of observed events in little memory: there may be a million.
type EventSet map[uint64]struct{}

// Again reports whether an event was observed before, and adds it.
func (s EventSet) Again(e *Event) bool {
	m := mark(e.ID)
	if _, again := s[m]; again {
		return true
	}
	s[m] = struct{}{}
	return false
}
