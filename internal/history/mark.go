package history

import "hash/fnv"

// mark stands for an event's id, which is as long itself.
func mark(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // never fails
	return h.Sum64()
}

// Seen knows which events went by, in as little room as can be: there may be a million.
type Seen map[uint64]struct{}

// Again says whether an event went by before, and notes it.
func (s Seen) Again(e *Event) bool {
	m := mark(e.ID)
	if _, again := s[m]; again {
		return true
	}
	s[m] = struct{}{}
	return false
}
