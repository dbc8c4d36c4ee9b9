package export

import (
	"errors"
	"hash/maphash"
	"io"
)

// merger merges rows with earlier ones, and writes each key once.
type merger[T any] struct {
	sink[T]
	// next reads earlier rows; nil if there are none. There reports whether head is valid.
	next  func() (entry[T], error)
	there bool
	head  entry[T]
	// replaced reports whether a new row replaces an earlier one.
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

// advance reads the next earlier row.
func (m *merger[T]) advance() error {
	e, err := m.next()
	switch {
	case errors.Is(err, io.EOF):
		m.there = false
		return nil
	case err != nil:
		return badForm(err)
	case m.there && e.compare(m.head.place) < 0:
		return badForm(errors.New("its rows are not sorted"))
	}
	m.there, m.head = true, e
	return nil
}

// upTo writes earlier rows until a place; nil is the end.
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

// add writes a row. Rows must be sorted.
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
