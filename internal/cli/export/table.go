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
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/gpupool/terraform-provider-gpupool/internal/columns"
)

// table writes and reads rows of one type. R is a row in Parquet. Rows are sorted by time, so
// only a few are in memory.
type table[T, R any] struct {
	called    string // the name of a row
	titles    []string
	added     int               // the last columns that files of earlier versions may lack
	cells     func(*T) []string // the first is the row's key, and the second its time
	place     func(*T) place
	rank      func(cells []string) int
	toParquet func(*T) R
	parquet   func(*R) T
	metadata  [2]string // key and text, in Parquet
	part      func(*T) part
}

// place is the position of a row.
type place struct {
	at   int64 // milliseconds
	rank int   // among rows with the same time
	key  string
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.at, o.at), cmp.Compare(p.rank, o.rank), cmp.Compare(p.key, o.key))
}

// entry is a row, or its cells if it was read from CSV.
type entry[T any] struct {
	place
	row   *T
	cells []string
}

func (t table[T, R]) entry(row *T) entry[T] { return entry[T]{place: t.place(row), row: row} }

// sink writes entries. It may buffer them until its end.
type sink[T any] struct {
	put func(entry[T]) error
	end func() error
}

const (
	atOnce       = 64 << 10 // bytes of text in one write
	rowsAtOnce   = 1000     // rows of Parquet in one write
	rowsPerGroup = 100_000
)

func (t table[T, R]) sink(format string, out io.Writer) (sink[T], error) {
	if format == asParquet {
		return t.parquetSink(out), nil
	}
	var text bytes.Buffer
	flush := func(enough int) error {
		if text.Len() < enough {
			return nil
		}
		_, err := out.Write(text.Bytes())
		text.Reset()
		return err
	}
	end := func() error { return flush(1) }
	if format == asJSON {
		encoder := json.NewEncoder(&text)
		return sink[T]{func(e entry[T]) error { return errors.Join(encoder.Encode(e.row), flush(atOnce)) }, end}, nil
	}
	w := csv.NewWriter(&text)
	put := func(cells []string) error {
		err := w.Write(cells)
		w.Flush()
		return errors.Join(err, flush(atOnce))
	}
	return sink[T]{func(e entry[T]) error {
		if e.cells == nil {
			e.cells = t.cells(e.row)
		}
		return put(e.cells)
	}, end}, put(t.titles)
}

func (t table[T, R]) parquetSink(out io.Writer) sink[T] {
	w := columns.NewWriter[R](out, t.metadata[0], t.metadata[1])
	rows := make([]R, 0, rowsAtOnce)
	inGroup := 0
	flush := func() error {
		_, err := w.Write(rows)
		inGroup += len(rows)
		rows = rows[:0]
		if err == nil && inGroup >= rowsPerGroup {
			inGroup = 0
			err = w.Flush()
		}
		return err
	}
	return sink[T]{func(e entry[T]) error {
		if rows = append(rows, t.toParquet(e.row)); len(rows) < rowsAtOnce {
			return nil
		}
		return flush()
	}, func() error {
		err := flush()
		if err == nil {
			err = w.Close()
		}
		return err
	}}
}

var errForm = errors.New("unexpected format: move it away, or export to another directory")

func badForm(err error) error { return fmt.Errorf("%w (%w)", errForm, err) }

// source reads the entries of a file one by one, then io.EOF.
func (t table[T, R]) source(format string, file *io.SectionReader) (func() (entry[T], error), error) {
	switch format {
	case asParquet:
		return t.parquetSource(file)
	case asJSON:
		decoder := json.NewDecoder(file)
		decoder.DisallowUnknownFields()
		return func() (entry[T], error) {
			row := new(T)
			if err := decoder.Decode(row); err != nil {
				return entry[T]{}, err
			}
			return t.entry(row), nil
		}, nil
	}
	r := csv.NewReader(file)
	titles, err := r.Read()
	older := len(t.titles) - t.added
	if err != nil || len(titles) < older || len(titles) > len(t.titles) || !slices.Equal(titles, t.titles[:len(titles)]) {
		return nil, errForm
	}
	lacking := make([]string, len(t.titles)-len(titles))
	return func() (entry[T], error) {
		cells, err := r.Read()
		if err != nil {
			return entry[T]{}, err
		}
		at, err := time.Parse(time.RFC3339, cells[1])
		return entry[T]{place: place{at.UnixMilli(), t.rank(cells), cells[0]}, cells: append(cells, lacking...)}, err
	}, nil
}

func (t table[T, R]) parquetSource(file *io.SectionReader) (func() (entry[T], error), error) {
	opened, err := parquet.OpenFile(file, file.Size())
	if err != nil {
		return nil, badForm(err)
	}
	r := parquet.NewGenericReader[R](opened)
	rows := make([]R, rowsAtOnce)
	var there []R
	return func() (entry[T], error) {
		if len(there) == 0 {
			clear(rows) // lists of earlier rows are still in use
			n, err := r.Read(rows)
			if n == 0 {
				return entry[T]{}, cmp.Or(err, io.ErrNoProgress)
			}
			there = rows[:n]
		}
		row := t.parquet(&there[0])
		there = there[1:]
		return t.entry(&row), nil
	}, nil
}
