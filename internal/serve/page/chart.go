package page

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// chart is a value of an object over time, and what it should be.
type chart struct {
	Title   string   `json:"-"`
	Label   string   `json:"-"` // for those who do not see it
	Note    string   `json:"-"`
	Times   []int64  `json:"times"` // Unix seconds
	Series  []series `json:"series"`
	Level   level    `json:"level"`
	Stepped bool     `json:"stepped"`
	Marks   []mark   `json:"marks"`
}

// series is one line. Its first values can be unknown, and its last ones.
type series struct {
	Name   string     `json:"name"`
	Values []*float64 `json:"values"`
}

// level is a line that the values should not cross, such as a limit.
type level struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
}

// mark is an event in a chart.
type mark struct {
	At   int64  `json:"at"`
	Kind string `json:"kind"`
}

// course returns the chart of the usage of a budget; nil without two values. The forecast is at the present
// rate, or without more usage if the limit is reached.
func course(u BudgetUsage, events []event) *chart {
	if len(u.Course) < 2 || u.Limit == 0 {
		return nil
	}
	exceeded := u.RecoversAt != nil
	used, ahead := series{Name: "used"}, series{Name: "at the present rate"}
	if exceeded {
		ahead.Name = "without more usage"
	}
	c := &chart{Title: "GPU-hours of 35 days", Level: level{Name: "limit"}}
	highest := u.Course[0]
	for _, s := range u.Course {
		var past, future *float64
		if !s.At.After(u.AsOf) {
			past = new(hours(s.Used))
			if s.Used > highest.Used {
				highest = s
			}
		}
		if !s.At.Before(u.AsOf) {
			future = new(hours(s.Used))
			if exceeded {
				future = new(hours(s.Idle))
			}
		}
		c.Level.Values = append(c.Level.Values, hours(limitAt(u, s.At)))
		c.Times, used.Values, ahead.Values = append(c.Times, s.At.Unix()), append(used.Values, past), append(ahead.Values, future)
	}
	c.Series = []series{used, ahead}
	c.Label = fmt.Sprintf("%s of %s GPU-hours used now, at most %s since %s", u.ConsumedGPUHours, budget.Hours(u.Limit), budget.Hours(highest.Used),
		day(u.Course[0].At))
	c.Note = fmt.Sprintf("As of %s. The highest usage since %s was %s GPU-hours.", wording.Instant(u.AsOf), day(u.Course[0].At), budget.Hours(highest.Used))
	c.mark(events)
	if u.RecoversAt != nil {
		c.Marks = append(c.Marks, mark{u.RecoversAt.Unix(), "recovers"})
	}
	if u.ProjectedExhaustion != nil {
		c.Marks = append(c.Marks, mark{u.ProjectedExhaustion.Unix(), "limit reached"})
	}
	return c
}

// limitAt is the limit at a time: a grant in force adds to it from when it began until it ends.
func limitAt(u BudgetUsage, at time.Time) int64 {
	limit := u.Limit
	for _, g := range u.Grants {
		if at.Before(g.From) || !at.Before(g.Until) {
			limit -= g.Amount()
		}
	}
	return limit
}

func day(at time.Time) string { return at.UTC().Format("January 2") }

// hours are GPU-hours with three decimals.
func hours(amount int64) float64 {
	return math.Round(float64(amount)*1000/float64(budget.Hour)) / 1000
}

// sizes returns the chart of the instances of a pool. From its size now, it goes back over each event
// that changed it; the newest events are first. It has a point an hour at most.
func sizes(p spotpools.Description, events []event, now time.Time) *chart {
	c := &chart{Title: "Instances of 35 days", Level: level{Name: "minimum"}, Stepped: true}
	total := series{Name: "instances"}
	size, least := p.Total, p.Total
	add := func(at time.Time) {
		if last := len(c.Times) - 1; last > 0 && c.Times[last]/3600 == at.Unix()/3600 {
			return // a later one of this hour is there
		}
		c.Times, total.Values = append(c.Times, at.Unix()), append(total.Values, new(float64(size)))
		least = min(least, size)
	}
	add(now)
	for n := range events {
		if by := change(&events[n].Event); by != 0 {
			add(events[n].At)
			size = max(0, size-by)
		}
	}
	if len(c.Times) < 2 {
		return nil
	}
	c.Level.Values = slices.Repeat([]float64{float64(p.Minimum)}, len(c.Times))
	slices.Reverse(c.Times)
	slices.Reverse(total.Values)
	c.Series = []series{total}
	c.Label = fmt.Sprintf("%d instances now, at least %d since %s, with a minimum of %d", p.Total, least, day(time.Unix(c.Times[0], 0)), p.Minimum)
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

func (c *chart) mark(events []event) {
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
