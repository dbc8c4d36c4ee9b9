package ledger

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/columns"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
)

// table is what the ledger remembers beside its records, by UID: in one document,
// or in several where that would be too large, which are written as a whole.
type table[T any] struct {
	kind document.Kind
	of   map[string]T
	// changed says that its documents may not say the same.
	changed bool
	uid     func(T) string
	problem func(T) error // why there can't be such a one
	take    func(T) error // merges what a document held
	// called is what it holds, and lost what it means that it can't be read.
	called, lost string
}

// anyTable is a table of whatever kind.
type anyTable interface {
	is(kind document.Kind) bool
	isChanged() bool
	documents(clusterUID string) ([]document.Document, error)
	load(saved *saved, p document.Part, d document.Document) error
	forgetful(cause error) error
}

// tables are all that the ledger has.
func (l *Ledger) tables() []anyTable { return []anyTable{&l.nodes, &l.bindings} }

// tableOf is the table whose documents are of a kind; nil where they are records'.
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

// forgetful says what it means that a document can't be read. No interval is lost by
// it, and what is remembered anew is written in its place.
func (m *table[T]) forgetful(cause error) error {
	m.changed = true
	return fmt.Errorf("%w; what it held of %s is forgotten: %s", cause, m.called, m.lost)
}

// load takes up what a document holds: all of it, or nothing.
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
		_, twice := m.of[m.uid(value)] // a run was cut short before it removed one of the two
		changed = changed || twice
		if err := m.take(value); err != nil {
			return &document.DamagedError{Document: d.Name, Reason: err.Error()}
		}
	}
	m.changed = changed
	return nil
}

// documents are those of a table that changed, by UID, as few as fit.
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
	return nil, errors.New("what is remembered of nodes, or of pods that are bound, is more than a store takes; nothing was changed")
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
