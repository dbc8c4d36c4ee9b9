package page

import (
	"encoding/json"
	"html/template"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
)

// chart is a value of an object over time, and what it should be.
type chart struct {
	Title  string      `json:"title"`
	Times  []int64     `json:"times"` // Unix seconds
	Names  [2]string   `json:"names"`
	Values [][]float64 `json:"values"` // the value and its reference
	Marks  []mark      `json:"marks"`
}

// mark is an event in a chart.
type mark struct {
	At   int64  `json:"at"`
	Kind string `json:"kind"`
}

const quarter = 15 * time.Minute

// lastDay returns the chart of the last day of a budget; nil without two quarter hours.
func lastDay(object string, r reconcile.StatusReport, events []history.Event) *chart {
	values, of := r.LastDay.Of(object, r.At)
	if len(values) < 2 {
		return nil
	}
	c := &chart{Title: "Last day", Names: [2]string{"percent used", "limit"}, Values: [][]float64{values, of}}
	last := r.At.Truncate(quarter)
	for n := range values {
		c.Times = append(c.Times, last.Add(-quarter*time.Duration(len(values)-1-n)).Unix())
	}
	c.mark(events)
	return c
}

// sizes returns the chart of the instances of a pool. From its size now, it goes back over each event
// that changed it; the newest events are first. It has a point an hour at most.
func sizes(p spotpools.Description, events []history.Event, now time.Time) *chart {
	c := &chart{Title: "Last 35 days", Names: [2]string{"instances", "minimum"}, Values: [][]float64{nil, nil}}
	size := p.Total
	add := func(at time.Time) {
		if last := len(c.Times) - 1; last > 0 && c.Times[last]/3600 == at.Unix()/3600 {
			return // a later one of this hour is there
		}
		c.Times, c.Values[0], c.Values[1] = append(c.Times, at.Unix()), append(c.Values[0], float64(size)), append(c.Values[1], float64(p.Minimum))
	}
	add(now)
	for n := range events {
		if by := change(&events[n]); by != 0 {
			add(events[n].At)
			size = max(0, size-by)
		}
	}
	if len(c.Times) < 2 {
		return nil
	}
	slices.Reverse(c.Times)
	slices.Reverse(c.Values[0])
	c.mark(events)
	return c
}

// change is by how many instances an event changed a pool.
func change(e *history.Event) int {
	switch e.Kind {
	case history.Begin, history.Adopt:
		return len(e.InstanceIDs)
	case history.Reclaim, history.Lost, history.End, history.Detach:
		return -len(e.InstanceIDs)
	}
	return 0
}

// marksAtMost is the most events that a chart shows, the newest ones.
const marksAtMost = 100

func (c *chart) mark(events []history.Event) {
	for _, e := range events {
		if e.At.Unix() >= c.Times[0] && marked[e.Kind] && len(c.Marks) < marksAtMost {
			c.Marks = append(c.Marks, mark{e.At.Unix(), string(e.Kind)})
		}
	}
}

// marked are the events that a chart shows.
var marked = map[history.Kind]bool{
	history.Reclaim: true, history.Lost: true, history.Price: true, history.Exceeded: true, history.Recovered: true, history.Grant: true,
}

// JSON is the chart for a script element.
func (c *chart) JSON() (template.JS, error) {
	data, err := json.Marshal(c)  // which escapes <, > and &
	return template.JS(data), err //nolint:gosec // it is JSON that is data, and no other site's
}
