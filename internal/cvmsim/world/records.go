package world

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
)

// worldRecord is the record under worldKey.
type worldRecord struct {
	Offset  time.Duration
	Ordinal uint64
	TagKeys []string
}

// keys names all records of the world.
func (w *World) keys() []string {
	keys := []string{worldKey}
	for _, in := range w.instances {
		keys = append(keys, in.key())
	}
	for _, o := range w.market {
		keys = append(keys, o.SKU.key())
	}
	for _, q := range w.quotas {
		keys = append(keys, q.key())
	}
	for _, m := range w.tokens {
		keys = append(keys, m.key())
	}
	return append(keys, w.tagValues.keys()...)
}

// encode renders a record, or nil where there is none any more.
func (w *World) encode(key string) json.RawMessage {
	kind, name, _ := strings.Cut(key, "/")
	switch kind {
	case worldKey:
		return wire.MustJSON(worldRecord{Offset: w.offset, Ordinal: w.ordinal, TagKeys: slices.Sorted(maps.Keys(w.tagKeys))})
	case "instance":
		return encodeRecord(w.instances[name])
	case "quota":
		return encodeRecord(w.quotas[name])
	case "token":
		return encodeRecord(w.tokens[name])
	case "tag":
		if key, value, _ := strings.Cut(name, "\x00"); w.tagValues[key][value] {
			return wire.MustJSON(tagRecord{key, value})
		}
	case "market":
		zoneID, rest, _ := strings.Cut(name, "/")
		typeID, charge, _ := strings.Cut(rest, "/")
		return encodeRecord(w.market[SKU{zoneID, typeID, charge}])
	}
	return nil
}

func encodeRecord[T any](record *T) json.RawMessage {
	if record == nil {
		return nil
	}
	return wire.MustJSON(record)
}

// restore fills an empty world from records.
func (w *World) restore(records map[string]json.RawMessage) error {
	var restored []*Instance
	for key, raw := range records {
		in, err := w.restoreRecord(key, raw)
		if err != nil {
			return fmt.Errorf("record %s: %w", key, err)
		}
		if in != nil {
			restored = append(restored, in)
		}
	}
	slices.SortFunc(restored, func(a, b *Instance) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	for _, in := range restored {
		w.Add(in)
	}
	clear(w.changed)
	return nil
}

// restoreRecord takes up one record; instances are returned, since they are
// added in their order.
func (w *World) restoreRecord(key string, raw json.RawMessage) (*Instance, error) {
	kind, name, _ := strings.Cut(key, "/")
	switch kind {
	case worldKey:
		record, err := decodeRecord[worldRecord](raw)
		if err != nil {
			return nil, err
		}
		w.offset, w.ordinal = record.Offset, record.Ordinal
		for _, k := range record.TagKeys {
			w.tagKeys[k] = true
		}
	case "instance":
		in, err := decodeRecord[Instance](raw)
		if err == nil && (TypeByName[in.Type] == nil || ZoneByID[in.Zone] == nil || in.ID != name) {
			err = errors.New("its type, zone or id isn't known")
		}
		return in, err
	case "tag":
		t, err := decodeRecord[tagRecord](raw)
		if err != nil {
			return nil, err
		}
		w.tagValues.add(Tag(*t))
	case "market":
		o, err := decodeRecord[Offer](raw)
		if err != nil {
			return nil, err
		}
		w.market[o.SKU] = o
	case "quota":
		return nil, restoreInto(w.quotas, name, raw)
	case "token":
		return nil, restoreInto(w.tokens, name, raw)
	default:
		return nil, errors.New("its kind isn't known")
	}
	return nil, nil
}

func restoreInto[T any](table map[string]*T, name string, raw json.RawMessage) error {
	record, err := decodeRecord[T](raw)
	if err == nil {
		table[name] = record
	}
	return err
}

func decodeRecord[T any](raw json.RawMessage) (*T, error) {
	record := new(T)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return record, d.Decode(record)
}
