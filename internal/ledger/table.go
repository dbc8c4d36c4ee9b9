package ledger

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/columns"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
)

// table is a set of values that the ledger keeps in addition to its records, by UID. It is written
// as a whole, in one document or in as many as the size limit requires.
type table[T any] struct {
	kind document.Kind
	of   map[string]T
	// changed says that its documents may be out of date.
	changed bool
	uid     func(T) string
	problem func(T) error // why a value is invalid
	take    func(T) error // merges a stored value
	// called describes the content; lost describes the consequence if it cannot be read.
	called, lost string
}

type anyTable interface {
	is(kind document.Kind) bool
	isChanged() bool
	documents(clusterUID string) ([]document.Document, error)
	load(saved *saved, p document.Part, d document.Document) error
	unreadable(cause error) error
}

func (l *Ledger) tables() []anyTable { return []anyTable{&l.nodes, &l.bindings} }

// tableOf returns the table of a kind of document, or nil for records.
func (l *Ledger) tableOf(kind document.Kind) anyTable {
	for _, m := range l.tables() {
		if m.is(kind) {
			return m
		}
	}
	return nil
}

func (m *table[T]) is(kind document.Kind) bool { return m.kind == kind }
func (m *table[T]) isChanged() bool            { return m.changed }

func (m *table[T]) put(value T) { m.of[m.uid(value)], m.changed = value, true }

func (m *table[T]) forget(uid string) {
	if _, known := m.of[uid]; known {
		delete(m.of, uid)
		m.changed = true
	}
}

// unreadable describes the consequence of an unreadable document. No interval is lost, and the next
// run writes the table again.
func (m *table[T]) unreadable(cause error) error {
	m.changed = true
	return fmt.Errorf("%w; its record of %s is lost: %s", cause, m.called, m.lost)
}

// load adds the content of a document, all of it or nothing.
func (m *table[T]) load(saved *saved, p document.Part, d document.Document) error {
	var body tableBody[T]
	if err := d.DecodeJSON(&body); err != nil {
		return err
	}
	for _, value := range body.Remembered {
		if m.problem(value) != nil {
			return &document.DamagedError{Document: d.Name, Reason: columns.ErrForm.Error()}
		}
	}
	saved.keep(d.Name, storedDocument{Part: p, sum: d.Sum, intervals: len(body.Remembered)})
	changed := m.changed
	for _, value := range body.Remembered {
		_, twice := m.of[m.uid(value)] // a run was interrupted before it removed one of the two
		changed = changed || twice
		if err := m.take(value); err != nil {
			return &document.DamagedError{Document: d.Name, Reason: err.Error()}
		}
	}
	m.changed = changed
	return nil
}

// documents encodes a changed table by UID, in as few documents as fit.
func (m *table[T]) documents(clusterUID string) ([]document.Document, error) {
	if !m.changed || len(m.of) == 0 {
		return nil, nil
	}
	uids := slices.Sorted(maps.Keys(m.of))
	for parts := 1; parts <= document.MaxParts; parts *= 2 {
		split := make([][]T, parts)
		for _, uid := range uids {
			at := document.PartOf(uid, parts) - 1
			split[at] = append(split[at], m.of[uid])
		}
		documents, fit, err := m.seal(clusterUID, split)
		if err != nil || fit {
			return documents, err
		}
	}
	return nil, fmt.Errorf("the ledger's documents of %s exceed the size limit of a store; nothing was changed", m.called)
}

func (m *table[T]) seal(clusterUID string, split [][]T) (documents []document.Document, fit bool, err error) {
	for n, values := range split {
		if len(values) == 0 {
			continue
		}
		name := document.Part{Shard: document.Shard{Kind: m.kind}, Number: n + 1, Parts: len(split)}.String()
		d, err := document.EncodeJSON(name, clusterUID, len(values), func(seal string) any { return tableBody[T]{Remembered: values, Seal: seal} })
		if err != nil {
			return nil, false, err
		}
		if len(d.Data) > document.MaxSize {
			return nil, false, nil
		}
		documents = append(documents, d)
	}
	return documents, true, nil
}
