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

// Each document has its seal in the metadata of Parquet; a head has what it tells of
// the other documents behind it, in JSON.
const (
	// fullHead is how long a head may be before its older half becomes a segment, and
	// fullSegment how long a document of a day that is over: an object of the
	// Kubernetes API takes 1 MiB, and less is better for who keeps it.
	fullHead    = 128 << 10
	fullSegment = 600 << 10
	maxDocument = 900 << 10

	// A day of many segments gets larger ones, and no more than a head can tell of.
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

// Segment is what a head tells of another document of its day.
type Segment struct {
	Name   string `json:"name"`
	From   int64  `json:"from_ms"` // when the first of its events was
	To     int64  `json:"to_ms"`   // and the last
	Events int    `json:"events"`
	Bytes  int    `json:"bytes"`
}

// Span is when the first and the last of its events were.
func (s Segment) Span() (from, to time.Time) {
	return time.UnixMilli(s.From).UTC(), time.UnixMilli(s.To).UTC()
}

// Head is the newest events of a day, and what is told of its segments.
type Head struct {
	Day    Day
	Number int
	Events []Event
	Index
}

// Index is what a head tells beside its events.
type Index struct {
	Segments []Segment `json:"segments,omitempty"` // by From
	// Compact says that the day's documents are as few as can be.
	Compact bool `json:"compact,omitempty"`
	// Tidied says that the days before were seen to when this one had begun: what is
	// too old was dropped. Elsewhere is how many bytes these then were.
	Tidied    bool  `json:"tidied,omitempty"`
	Elsewhere int64 `json:"elsewhere,omitempty"`
	// KeptSince is up to when events were dropped; zero where none were.
	KeptSince time.Time `json:"kept_since,omitzero"`
}

// Name is that of the head's document.
func (h *Head) Name() string { return h.Day.HeadName(h.Number) }

// Codec reads and writes documents, one after the other.
type Codec struct{ reader reader }

// NewCodec makes one.
func NewCodec() (*Codec, error) {
	t, err := columns.NewTable[Row]()
	if err != nil {
		return nil, err
	}
	return &Codec{reader: reader{Table: t}}, nil
}

// open judges a document and takes it apart, and returns what its seal is followed by.
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

// Head reads a head, and those of its events that are asked for.
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

// Segment reads those of a segment's events that are asked for.
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

// Objects are those of which the document that was read last tells, whatever was asked.
func (c *Codec) Objects() []string { return c.reader.Columns[objectColumn].Dict }

// make makes a document; index is nil for a segment. fits says whether it is no
// longer than that, and can be read again.
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
	switch err := c.reader.Read(data); { // what would not be read is not written
	case errors.Is(err, columns.ErrLarge):
		return d, false, nil
	case err != nil:
		return d, false, fmt.Errorf("the history's document %s could not be read again: %w", name, err)
	}
	return d, true, nil
}
