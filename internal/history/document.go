package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/columns"
	"github.com/gpupool/terraform-provider-gpupool/internal/seal"
)

// Each document has its seal in the metadata of Parquet; a head has its index after it, in JSON.
const (
	// fullHead is the length at which a head's older half becomes a segment, and fullSegment the
	// largest document of a past day. An object of the Kubernetes API takes 1 MiB, and smaller is
	// better for its backend.
	fullHead    = 128 << 10
	fullSegment = 600 << 10
	maxDocument = 900 << 10

	// A day of many segments gets larger ones, at most as many as fit into the index.
	manySegments = 64
	maxSegments  = 400

	subject = "events"
)

var form = seal.Form{Magic: "gpupool-history", Version: 1}

// Document is a document of the history, by its name.
type Document struct {
	Name string
	Data []byte
}

// Segment is the entry of a document in the index of its day.
type Segment struct {
	Name   string `json:"name"`
	From   int64  `json:"from_ms"` // time of its first event
	To     int64  `json:"to_ms"`   // and the last
	Events int    `json:"events"`
	Bytes  int    `json:"bytes"`
}

// Span returns the times of its first and its last event.
func (s Segment) Span() (from, to time.Time) {
	return time.UnixMilli(s.From).UTC(), time.UnixMilli(s.To).UTC()
}

// Head is the newest events of a day, and the index of its segments.
type Head struct {
	Day    Day
	Number int
	Events []Event
	Index
}

// Index is the content of a head apart from its events.
type Index struct {
	Segments []Segment `json:"segments,omitempty"` // by From
	// Compact says that the day's documents were combined.
	Compact bool `json:"compact,omitempty"`
	// Tidied says that retention was applied to the days before this one. Elsewhere is how many
	// bytes they had after that.
	Tidied    bool  `json:"tidied,omitempty"`
	Elsewhere int64 `json:"elsewhere,omitempty"`
	// KeptSince is the start of retention: earlier events were dropped. It is zero if none were.
	KeptSince time.Time `json:"kept_since,omitzero"`
}

// Name returns the name of the head's document.
func (h *Head) Name() string { return h.Day.HeadName(h.Number) }

// Codec reads and writes documents, one after the other.
type Codec struct{ reader reader }

// rows is made once: finding a schema takes 60 times as long as a table of it. Older documents end
// before the column of currencies.
var rows, errRows = columns.NewTable[Row](currencyColumn, detailsColumn)

// NewCodec returns a codec.
func NewCodec() (*Codec, error) {
	if errRows != nil {
		return nil, errRows
	}
	t, err := rows.New()
	if err != nil {
		return nil, err
	}
	return &Codec{reader: reader{Table: t}}, nil
}

// open checks and decodes a document, and returns the text after its seal.
func (c *Codec) open(name string, data []byte) (string, error) {
	_, err := form.Open(name, subject, data)
	var newer *seal.NewerError
	switch {
	case errors.As(err, &newer):
		return "", &NewerError{Document: name, Version: newer.Version}
	case err == nil && len(data) > maxDocument:
		err = errors.New("it is longer than any that is written")
	case err == nil:
		err = c.reader.Read(data)
	}
	if err != nil {
		return "", &DamagedError{Document: name, Reason: err.Error()}
	}
	_, rest, _ := strings.Cut(c.reader.Text(form.Magic), "\n")
	return rest, nil
}

// Head reads a head, with the events of a query.
func (c *Codec) Head(name string, data []byte, q Query) (*Head, error) {
	index, err := c.open(name, data)
	if err != nil {
		return nil, err
	}
	damaged := func(err error) (*Head, error) {
		return nil, &DamagedError{Document: name, Reason: err.Error()}
	}
	h := &Head{}
	var ok bool
	if h.Day, h.Number, ok = ParseName(name); !ok || h.Number == 0 {
		return damaged(errors.New("no head has such a name"))
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(index)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&h.Index); err != nil {
		return damaged(columns.ErrForm)
	}
	for _, s := range h.Segments {
		if d, head, ok := ParseName(s.Name); !ok || d != h.Day || head != 0 || s.Bytes < 0 || s.Events < 0 || !possible(s.From) || !possible(s.To) {
			return damaged(columns.ErrForm)
		}
	}
	if h.Events, err = c.reader.events(q); err != nil {
		return damaged(err)
	}
	return h, nil
}

// Segment reads the events of a query from a segment.
func (c *Codec) Segment(name string, data []byte, q Query) ([]Event, error) {
	if _, err := c.open(name, data); err != nil {
		return nil, err
	}
	events, err := c.reader.events(q)
	if err != nil {
		return nil, &DamagedError{Document: name, Reason: err.Error()}
	}
	return events, nil
}

// Objects returns the objects of the document that was read last, regardless of the query.
func (c *Codec) Objects() []string { return c.reader.Columns[objectColumn].Dict }

// make encodes a document; index is nil for a segment. fits reports whether it is within the limit
// and can be read again.
func (c *Codec) make(name string, events []Event, index *Index, longest int) (d Document, fits bool, err error) {
	text, err := form.Line(name, subject)
	if err != nil {
		return d, false, err
	}
	if index != nil {
		told, err := json.Marshal(index)
		if err != nil {
			return d, false, fmt.Errorf("encoding the history's document %s: %w", name, err)
		}
		text += "\n" + string(told)
	}
	data, err := encode(events, text)
	if err != nil {
		return d, false, fmt.Errorf("encoding the history's document %s: %w", name, err)
	}
	form.Close(name, subject, data)
	d = Document{Name: name, Data: data}
	if len(data) > longest {
		return d, false, nil
	}
	switch err := c.reader.Read(data); { // never write a document that cannot be read
	case errors.Is(err, columns.ErrLarge):
		return d, false, nil
	case err != nil:
		return d, false, fmt.Errorf("the history's document %s could not be read again: %w", name, err)
	}
	return d, true, nil
}
