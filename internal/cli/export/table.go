package export

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// table is how rows of one sort are written. The first cell of a row is its key, and
// the second its time.
type table[T any] struct {
	called    string // a row, to people
	titles    []string
	cells     func(*T) []string
	toParquet func([]T) ([]byte, error)
	parquet   func([]byte) ([]T, error)
	part      func(*T) part
}

var errForm = errors.New("it is not of the form that is written: move it away, or export to another directory")

// encode writes rows in a format, and those before them that they don't replace.
func (t table[T]) encode(format string, rows []T, before []byte) ([]byte, error) {
	if format == asCSV {
		return t.toCSV(rows, before)
	}
	read, write := t.parquet, t.toParquet
	if format == asJSON {
		read, write = fromJSON[T], toJSON[T]
	}
	if len(before) > 0 {
		old, err := read(before)
		if err != nil {
			return nil, fmt.Errorf("%w (%w)", errForm, err)
		}
		rows = append(old, rows...)
	}
	return write(t.merge(rows))
}

// merge brings rows into order, each key's once: the last one.
func (t table[T]) merge(rows []T) []T {
	type keyed struct {
		row   T
		cells []string
	}
	at := make(map[string]int, len(rows))
	var merged []keyed
	for _, row := range rows {
		k := keyed{row, t.cells(&row)[:2]}
		if n, there := at[k.cells[0]]; there {
			merged[n] = k
			continue
		}
		at[k.cells[0]] = len(merged)
		merged = append(merged, k)
	}
	slices.SortFunc(merged, func(a, b keyed) int { return compare(a.cells, b.cells) })
	sorted := make([]T, len(merged))
	for n := range merged {
		sorted[n] = merged[n].row
	}
	return sorted
}

// compare orders rows by time.
func compare(a, b []string) int { return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0])) }

func (t table[T]) toCSV(rows []T, before []byte) ([]byte, error) {
	byKey := map[string][]string{}
	if len(before) > 0 {
		old, err := csv.NewReader(bytes.NewReader(before)).ReadAll()
		if err != nil || !slices.Equal(old[0], t.titles) {
			return nil, errForm
		}
		for _, cells := range old[1:] {
			byKey[cells[0]] = cells
		}
	}
	for n := range rows {
		cells := t.cells(&rows[n])
		byKey[cells[0]] = cells
	}
	records := make([][]string, 0, len(byKey))
	for _, cells := range byKey {
		records = append(records, cells)
	}
	slices.SortFunc(records, compare)
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	err := w.Write(t.titles)
	if err == nil {
		err = w.WriteAll(records)
	}
	return out.Bytes(), err
}

func toJSON[T any](rows []T) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	for n := range rows {
		if err := encoder.Encode(&rows[n]); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

func fromJSON[T any](data []byte) ([]T, error) {
	var rows []T
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	for {
		var row T
		err := decoder.Decode(&row)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
}
