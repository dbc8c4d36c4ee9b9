package history

import (
	"strings"
	"time"
)

// Line is an event, or the same trouble again and again.
type Line struct {
	*Event     // the last of them
	Times  int // how often it is told
	First  time.Time
}

// Collapse makes one line of the same trouble of one object, for as long as nothing
// else happens to that. It goes through the events twice, in the order of their time:
// a line is where the last of its events was, and only once all were seen is it known
// which that is. So it holds no event. The zero value is ready.
type Collapse struct {
	troubles map[uint64]*trouble            // of the events that were seen; nil where it is none
	open     map[string]map[string]*trouble // by object
}

// trouble is what one line tells of.
type trouble struct {
	times int
	first time.Time
	last  uint64
}

// See sees an event for the first time.
func (c *Collapse) See(e *Event) {
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

// Line is the line of an event, the second time. There is none where it is told with a
// later one, and none of an event that was not seen: it was told meanwhile.
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

// troubleOf tells troubles of one object apart. The cloud's request ids, and what
// reasons count, are another's each time.
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
