package export

import (
	"errors"
	"hash/maphash"
	"io"
)

// merger writes rows, and those before them that they don't replace, each key's once.
type merger[T any] struct {
	sink[T]
	// next reads what was there before; nil where nothing was. There says whether head
	// is of it.
	next  func() (entry[T], error)
	there bool
	head  entry[T]
	// replaced says of what was there before whether one of its key is yet to come.
	replaced func(key string) bool
	seed     maphash.Seed
	written  map[uint64]struct{}
}

func newMerger[T any](to sink[T], before func() (entry[T], error), replaced func(key string) bool) (*merger[T], error) {
	m := &merger[T]{sink: to, next: before, replaced: replaced, seed: maphash.MakeSeed(), written: map[uint64]struct{}{}}
	if before == nil {
		return m, nil
	}
	return m, m.advance()
}

// advance goes on to the next of what was there before.
func (m *merger[T]) advance() error {
	e, err := m.next()
	switch {
	case errors.Is(err, io.EOF):
		m.there = false
		return nil
	case err != nil:
		return badForm(err)
	case m.there && e.compare(m.head.place) < 0:
		return badForm(errors.New("its rows are not in order"))
	}
	m.there, m.head = true, e
	return nil
}

// upTo writes what was there before, as far as it comes before a place; nil is the end.
func (m *merger[T]) upTo(end *place) error {
	for m.there && (end == nil || m.head.compare(*end) < 0) {
		if !m.replaced(m.head.key) {
			if err := m.once(m.head); err != nil {
				return err
			}
		}
		if err := m.advance(); err != nil {
			return err
		}
	}
	return nil
}

func (m *merger[T]) once(e entry[T]) error {
	key := maphash.String(m.seed, e.key)
	if _, again := m.written[key]; again {
		return nil
	}
	m.written[key] = struct{}{}
	return m.put(e)
}

// add writes a row, which is no earlier than the last.
func (m *merger[T]) add(e entry[T]) error {
	err := m.upTo(&e.place)
	if err == nil {
		err = m.once(e)
	}
	return err
}

// finish writes the rest.
func (m *merger[T]) finish() error {
	err := m.upTo(nil)
	if err == nil {
		err = m.end()
	}
	return err
}
