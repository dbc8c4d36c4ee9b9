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

// general is the record of what isn't about one thing alone.
type general struct {
	Offset  time.Duration // what the clock was stepped by
	Ordinal uint64        // of the last instance
	TagKeys []string      // ever used, in order
}

// generalKind has one record, without a name.
const generalKind = "world"

// changes names the records that differ from what is stored, and counts what
// happened to them, for the cache of queries.
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
	encode(name string) json.RawMessage // nil where there is none any more
	restore(name string, raw json.RawMessage) error
}

// kinds are all records of a world. A record's key is its kind, and its name.
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
		err := errors.New("its kind isn't known")
		if records := k[kind]; records != nil {
			err = records.restore(name, raw)
		}
		if err != nil {
			return fmt.Errorf("record %s: %w", key, err)
		}
	}
	return nil
}

// table has the records of one kind, and notes which of them change.
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

// Put keeps a record under a name.
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

// restore reads a record into the one that is there already, if any.
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
