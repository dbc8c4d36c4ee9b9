package page

import (
	"context"
	"encoding/json"
	"html/template"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

// chart is the last day of an object, in quarter hours.
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

// chart returns the chart of an object; nil without two quarter hours.
func (s *site) chart(ctx context.Context, object string, events []history.Event) (*chart, error) {
	r, err := s.Reader.Overview(ctx)
	if err != nil {
		return nil, err
	}
	values, of := r.LastDay.Of(object, r.At)
	if len(values) < 2 {
		return nil, nil //nolint:nilnil // no chart is no error
	}
	c := &chart{Title: "Last day", Names: [2]string{"ready instances", "minimum"}, Values: [][]float64{values, of}}
	if strings.HasPrefix(object, "budget/") {
		c.Names = [2]string{"percent used", "limit"}
	}
	last := r.At.Truncate(quarter)
	for n := range values {
		c.Times = append(c.Times, last.Add(-quarter*time.Duration(len(values)-1-n)).Unix())
	}
	for _, e := range events {
		if e.At.Unix() >= c.Times[0] && marked[e.Kind] {
			c.Marks = append(c.Marks, mark{e.At.Unix(), string(e.Kind)})
		}
	}
	return c, nil
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
