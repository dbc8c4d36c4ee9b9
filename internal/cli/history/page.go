package history

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
)

// page prints events as they come: there may be a million.
type page struct {
	session  *process.Session
	out      bytes.Buffer
	collapse history.Collapse
	objects  map[string]bool // of which anything is told
	kinds    int             // the longest name of a kind
}

func newPage(s *process.Session) *page { return &page{session: s, objects: map[string]bool{}} }

// walker tells all events that are asked for.
type walker func(tell func(*history.Event) error) (eventlog.Answer, error)

// see sees an event before anything is printed.
func (p *page) see(e *history.Event) error {
	p.collapse.See(e)
	p.objects[e.Object] = true
	p.kinds = max(p.kinds, len(e.Kind))
	return nil
}

// atOnce is how much is written at once.
const atOnce = 64 << 10

// flush writes what is enough of it.
func (p *page) flush(enough int) error {
	if p.out.Len() < enough {
		return nil
	}
	err := p.session.Put(p.out.String())
	p.out.Reset()
	return err
}

func (p *page) csv(walk walker) (eventlog.Answer, error) {
	w := csv.NewWriter(&p.out) // a buffer takes everything
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

// json prints a report, the events of which come after what is known of it already, and
// before the rest.
func (p *page) json(r Report, walk walker) error {
	r.Events, r.Lost = []history.Event{}, []string{}
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
