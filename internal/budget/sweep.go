package budget

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// sweep follows the usage of one audience through time, for the limits whose
// crossings are asked for.
type sweep struct {
	audience *audience
	marks    []mark
	steps    []step
	used     wide // in parts of a GPU times milliseconds
	rate     int64
	at, rose ledger.Time // where it stands, and when usage last rose
}

// step is where the rate of an audience rises or falls.
type step struct {
	at     ledger.Time
	change int64 // in parts of a GPU
}

// mark is a limit whose crossings are noted.
type mark struct {
	result *Result
	limit  wide
	above  bool
	since  ledger.Time // the last crossing upwards
	ahead  ledger.Time // the first crossing after now
}

// sweep asks for an audience's usage to be followed for one of its budgets.
func (e *evaluation) sweep(a *audience, r *Result) {
	if last := len(e.sweeps) - 1; last >= 0 && e.sweeps[last].audience == a {
		e.sweeps[last].marks = append(e.sweeps[last].marks, mark{result: r})
		return
	}
	e.sweeps = append(e.sweeps, &sweep{audience: a, marks: []mark{{result: r}}})
}

// stepsAtOnce is how many steps of sweeps are kept at a time.
const stepsAtOnce = 1 << 18

// cross does what was asked for: it finds the crossings of limits, past and to
// come. The edges of each valuation are sorted once, and handed out in their
// order to as many sweeps at a time as there is room for.
func (e *evaluation) cross() {
	for valuer, v := range e.valuers {
		asked := make([]bool, len(e.classes.list))
		var sweeps []*sweep
		for _, s := range e.sweeps {
			if s.audience.valuer != valuer {
				continue
			}
			sweeps = append(sweeps, s)
			for _, c := range s.audience.classes {
				asked[c.number] = true
			}
		}
		if len(sweeps) == 0 {
			continue
		}
		edges := e.edges(valuer, asked)
		scaled, parts := inParts(v.rates)
		var room []step
		for len(sweeps) > 0 {
			n, most := 1, sweeps[0].most()
			for n < len(sweeps) && most+sweeps[n].most() <= stepsAtOnce {
				most += sweeps[n].most()
				n++
			}
			room = slices.Grow(room[:0], most)
			e.handOut(edges, scaled, sweeps[:n], room[:most])
			for _, s := range sweeps[:n] {
				s.follow(e.now, parts)
			}
			sweeps = sweeps[n:]
		}
	}
}

// most is how many steps the sweep can have.
func (s *sweep) most() int {
	most := 0
	for _, c := range s.audience.classes {
		g, _ := c.of(s.audience)
		most += 2 * g.intervals
	}
	return most
}

// handOut gives each sweep the steps of its classes, in their order, and a part
// of the room to keep them in.
func (e *evaluation) handOut(edges []edge, scaled []int64, sweeps []*sweep, room []step) {
	byClass := make([][]*sweep, len(e.classes.list))
	for _, s := range sweeps {
		most := s.most()
		s.steps, room = room[:0:most], room[most:]
		for _, c := range s.audience.classes {
			byClass[c.number] = append(byClass[c.number], s)
		}
	}
	for _, edge := range edges {
		to := byClass[edge.class]
		if len(to) == 0 {
			continue
		}
		change := scaled[max(edge.change, -edge.change)]
		if edge.change < 0 {
			change = -change
		}
		for _, s := range to {
			s.steps = append(s.steps, step{edge.at, change})
		}
	}
}

// follow moves the sweep along its steps. What happens enters the window at once,
// and leaves a rolling one by its length later; what was before a calendar period
// begins with it.
func (s *sweep) follow(now ledger.Time, parts int64) {
	for n := range s.marks {
		s.marks[n].limit = product(s.marks[n].result.Usage.Limit, parts)
	}
	rolling, leaving := s.audience.rolling, s.steps
	leave := func(until ledger.Time) {
		for len(leaving) > 0 && leaving[0].at+rolling <= until {
			s.advance(leaving[0].at + rolling)
			s.rate -= leaving[0].change
			leaving = leaving[1:]
		}
	}
	from := s.audience.from
	if rolling > 0 {
		from = 0
	} else {
		leaving = nil
	}
	for _, step := range s.steps {
		leave(step.at)
		s.advance(max(step.at, from))
		s.rate += step.change
	}
	leave(now)
	s.advance(now)
	s.arrive()
	leave(now + rolling)
	s.advance(now + rolling)
	s.report(now)
	s.steps = nil
}

// advance moves the sweep on, and notes what limits usage crosses on the way.
func (s *sweep) advance(to ledger.Time) {
	passed := to - s.at
	if passed <= 0 {
		return
	}
	if s.rate != 0 {
		used := s.used.plus(product(s.rate, int64(passed)))
		for n := range s.marks {
			m := &s.marks[n]
			switch reached := !used.below(m.limit); {
			case reached && !m.above:
				m.above = true
				m.since = s.at + ledger.Time(m.limit.minus(s.used).over(s.rate))
				if m.ahead == 0 {
					m.ahead = m.since
				}
			case !reached:
				m.above = false
			}
		}
		s.used = used
		if s.rate > 0 {
			s.rose = to
		}
	}
	s.at = to
}

// arrive writes down what was crossed up to now.
func (s *sweep) arrive() {
	for n := range s.marks {
		m := &s.marks[n]
		m.ahead = 0
		if m.above {
			m.ahead = s.at
		}
		if !m.result.Usage.Exceeded() {
			continue
		}
		// Intervals are rounded one by one, and so may reach the limit where their
		// exact sum is short of it by less than it takes to tell.
		since := m.since
		if !m.above {
			since = s.rose
		}
		at := toTime(since)
		m.result.ExceededSince = &at
	}
}

// report writes down what is to be crossed after now.
func (s *sweep) report(now ledger.Time) {
	for n := range s.marks {
		if m := &s.marks[n]; !m.result.Usage.Exceeded() && m.ahead >= now {
			at := toTime(m.ahead)
			m.result.Usage.ProjectedExhaustion = &at
		}
	}
}
