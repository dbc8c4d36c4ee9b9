package history

import (
	"strings"
	"time"
)

// Line is an event, or a repeated problem.
type Line struct {
	*Event     // the last of them
	Times  int // how often it was reported
	First  time.Time
}

// Collapse combines repeated reports of the same problem of one object into one line, until another
// event of the object. It needs two passes over the events in the order of their time. A line is at
// its last event, which is only known after the first pass. So it holds no events. The zero value
// is ready to use.
type Collapse struct {
	troubles map[uint64]*trouble            // of the observed events; nil if it is not a problem
	open     map[string]map[string]*trouble // by object
}

type trouble struct {
	times int
	first time.Time
	last  uint64
}

// Observe takes an event in the first pass.
func (c *Collapse) Observe(e *Event) {
	if c.troubles == nil {
		c.troubles, c.open = map[uint64]*trouble{}, map[string]map[string]*trouble{}
	}
	m := mark(e.ID)
	if !e.Kind.Trouble() {
		c.troubles[m] = nil
		delete(c.open, e.Object)
		return
	}
	of := c.open[e.Object]
	if of == nil {
		of = map[string]*trouble{}
		c.open[e.Object] = of
	}
	key := troubleOf(e)
	if of[key] == nil {
		of[key] = &trouble{first: e.At}
	}
	of[key].times++
	of[key].last = m
	c.troubles[m] = of[key]
}

// Line returns the line of an event in the second pass. There is none if a later event has the
// line, or if the event was added after the first pass.
func (c *Collapse) Line(e *Event) (Line, bool) {
	m := mark(e.ID)
	of, seen := c.troubles[m]
	switch {
	case !seen || of != nil && of.last != m:
		return Line{}, false
	case of == nil:
		return Line{Event: e, Times: 1, First: e.At}, true
	}
	return Line{Event: e, Times: of.times, First: of.first}, true
}

// troubleOf distinguishes the problems of one object. It ignores request IDs and the numbers in
// reasons, which always differ.
func troubleOf(e *Event) string {
	parts := []string{string(e.Kind), e.ChargeType}
	if o := e.Offering; o != nil {
		parts = append(parts, o.AvailabilityZone, o.InstanceType, o.SubnetID)
	}
	if f := e.Error; f != nil {
		parts = append(parts, f.Class, f.Code)
		if f.Code == "" {
			message := f.Message
			if f.RequestID != "" {
				message = strings.ReplaceAll(message, f.RequestID, "")
			}
			parts = append(parts, message)
		}
	}
	return strings.Join(parts, "\x00")
}
