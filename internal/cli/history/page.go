package history

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
)

// page prints events one by one: there may be a million.
type page struct {
	session  *process.Session
	out      bytes.Buffer
	collapse history.Collapse
	objects  map[string]bool // with events
	kinds    int             // the longest name of a kind
}

func newPage(s *process.Session) *page { return &page{session: s, objects: map[string]bool{}} }

// walker passes on all requested events.
type walker func(tell func(*history.Event) error) (eventlog.Answer, error)

// see collects widths and repetitions before anything is printed.
func (p *page) see(e *history.Event) error {
	p.collapse.Observe(e)
	p.objects[e.Object] = true
	p.kinds = max(p.kinds, len(e.Kind))
	return nil
}

// atOnce is the size of one write.
const atOnce = 64 << 10

// flush writes the buffer if it has at least this size.
func (p *page) flush(enough int) error {
	if p.out.Len() < enough {
		return nil
	}
	err := p.session.Put(p.out.String())
	p.out.Reset()
	return err
}

func (p *page) csv(walk walker) (eventlog.Answer, error) {
	w := csv.NewWriter(&p.out) // a buffer does not fail
	_ = w.Write(history.Titles())
	answer, err := walk(func(e *history.Event) error {
		_ = w.Write(e.Cells())
		w.Flush()
		return p.flush(atOnce)
	})
	w.Flush()
	if err == nil {
		err = p.flush(1)
	}
	return answer, err
}

// json prints a report with its events one by one.
func (p *page) json(r eventlog.Report, walk walker) error {
	r.Events, r.Lost = []history.Event{}, reason.Reasons{}
	const events = "\n  \"events\": ["
	around, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	before, _, _ := strings.Cut(string(around), events)
	p.out.WriteString(before + events)
	comma := ""
	answer, err := walk(func(e *history.Event) error {
		data, err := json.MarshalIndent(e, "    ", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintf(&p.out, "%s\n    %s", comma, data)
		comma = ","
		return p.flush(atOnce)
	})
	if err != nil {
		return err
	}
	if comma != "" {
		p.out.WriteString("\n  ")
	}
	r.KeptSince = answer.KeptSince
	r.Lost = append(r.Lost, answer.Lost...)
	if around, err = json.MarshalIndent(r, "", "  "); err != nil {
		return err
	}
	_, after, _ := strings.Cut(string(around), events)
	p.out.WriteString(after + "\n")
	return p.flush(1)
}
