package world

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
)

// general is the record of the world's common state.
type general struct {
	Offset  time.Duration // the sum of all clock steps
	Ordinal uint64        // of the last instance
	TagKeys []string      // ever used, in order
}

// generalKind has one record, without a name.
const generalKind = "world"

// changes are the records that differ from the stored ones, and counters of changes for the query
// cache.
type changes struct {
	keys       map[string]struct{}
	generation uint64
}

func (c *changes) touch(kind, name string) {
	c.keys[recordKey(kind, name)] = struct{}{}
	c.generation++
}

func recordKey(kind, name string) string {
	if name == "" {
		return kind
	}
	return kind + "/" + name
}

// records are those of one kind, by name.
type records interface {
	names() []string
	encode(name string) json.RawMessage // nil if it was deleted
	restore(name string, raw json.RawMessage) error
}

// kinds are all records of a world. A record's key is its kind and its name.
type kinds map[string]records

func (k kinds) encode(key string) json.RawMessage {
	kind, name, _ := strings.Cut(key, "/")
	return k[kind].encode(name)
}

func (k kinds) encodeAll() map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for kind, records := range k {
		for _, name := range records.names() {
			all[recordKey(kind, name)] = records.encode(name)
		}
	}
	return all
}

func (k kinds) restore(all map[string]json.RawMessage) error {
	for key, raw := range all {
		kind, name, _ := strings.Cut(key, "/")
		err := errors.New("its kind is not known")
		if records := k[kind]; records != nil {
			err = records.restore(name, raw)
		}
		if err != nil {
			return fmt.Errorf("record %s: %w", key, err)
		}
	}
	return nil
}

// table contains the records of one kind, and records their changes.
type table[R any] struct {
	kind    string
	rows    map[string]*R
	changes *changes
}

func newTable[R any](kind string, k kinds, c *changes) table[R] {
	t := table[R]{kind: kind, rows: map[string]*R{}, changes: c}
	k[kind] = t
	return t
}

// Get returns the record of a name, or nil.
func (t table[R]) Get(name string) *R { return t.rows[name] }

func (t table[R]) Put(name string, record *R) {
	t.rows[name] = record
	t.changes.touch(t.kind, name)
}

func (t table[R]) names() []string { return slices.Collect(maps.Keys(t.rows)) }

func (t table[R]) encode(name string) json.RawMessage {
	if record := t.rows[name]; record != nil {
		return wire.MustJSON(record)
	}
	return nil
}

// restore decodes a record into the existing one, if any.
func (t table[R]) restore(name string, raw json.RawMessage) error {
	record := t.rows[name]
	if record == nil {
		record = new(R)
	}
	t.rows[name] = record
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(record)
}
