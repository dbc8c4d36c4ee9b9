package budget

import (
	"cmp"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// sweep follows the usage of one audience through time, for the limits whose
// crossings are asked for.
type sweep struct {
	audience *audience
	marks    []mark
	used     wide // in parts of a GPU times milliseconds
	rate     int64
	at, rose ledger.Time // where it stands, and when usage last rose
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

// cross does what was asked for: it finds the crossings of limits, past and to
// come. Each valuation's edges are sorted once; each window goes through them.
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
		for _, s := range sweeps {
			for n := range s.marks {
				s.marks[n].limit = product(s.marks[n].result.Usage.Limit, parts)
			}
		}
		slices.SortStableFunc(sweeps, func(a, b *sweep) int { return cmp.Compare(a.audience.rolling, b.audience.rolling) })
		for len(sweeps) > 0 {
			n := 1
			for n < len(sweeps) && sweeps[n].audience.rolling == sweeps[0].audience.rolling {
				n++
			}
			e.follow(sweeps[:n], edges, scaled)
			sweeps = sweeps[n:]
		}
	}
}

// follow moves sweeps along the edges: those of rolling windows of one length, or
// those of all calendar periods. What happens enters the window at once, and
// leaves a rolling one by its length later.
func (e *evaluation) follow(sweeps []*sweep, edges []edge, scaled []int64) {
	byClass := make([][]*sweep, len(e.classes.list))
	for _, s := range sweeps {
		for _, c := range s.audience.classes {
			byClass[c.number] = append(byClass[c.number], s)
		}
	}
	rolling := sweeps[0].audience.rolling
	turn := func(edge edge, at ledger.Time, sign int64) {
		change := sign
		if edge.change > 0 {
			change *= scaled[edge.change]
		} else {
			change *= -scaled[-edge.change]
		}
		for _, s := range byClass[edge.class] {
			if rolling == 0 { // what was before a period begins with it
				s.advance(max(at, s.audience.from))
			} else {
				s.advance(at)
			}
			s.rate += change
		}
	}
	leaving := edges
	leave := func(until ledger.Time) {
		for rolling > 0 && len(leaving) > 0 && leaving[0].at+rolling <= until {
			turn(leaving[0], leaving[0].at+rolling, -1)
			leaving = leaving[1:]
		}
	}
	for _, edge := range edges {
		leave(edge.at)
		turn(edge, edge.at, 1)
	}
	leave(e.now)
	for _, s := range sweeps {
		s.advance(e.now)
		s.arrive()
	}
	if rolling > 0 {
		leave(e.now + rolling)
	}
	for _, s := range sweeps {
		s.advance(e.now + rolling)
		s.report(e.now)
	}
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
