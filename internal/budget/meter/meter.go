package meter

import (
	"math/big"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Meter measures intervals of pods as one budget counts them. Evaluate uses it for all that a budget selects,
// and other callers for single pods.
type Meter struct {
	rules      *rules
	matcher    *budget.Matcher
	claims     *Claims
	window     budget.Window
	begin, now ledger.Time
}

// New makes a meter of a budget's window at a moment. An empty selector
// measures every pod. The claims are those of all records; without them, no pod
// shares what it holds.
func New(d budget.Declaration, now time.Time, claims *Claims, zones budget.Zones) (*Meter, error) {
	window, err := d.WindowAt(now, zones)
	if err != nil {
		return nil, err
	}
	rules, err := rulesOf(d)
	if err != nil {
		return nil, err
	}
	matcher, err := d.Selector.Matcher()
	if err != nil {
		return nil, err
	}
	return &Meter{
		rules: rules, matcher: matcher, claims: claims, window: window, begin: ledger.TimeOf(window.Start), now: ledger.TimeOf(now),
	}, nil
}

// PodUsage is one pod's part in a budget's usage.
type PodUsage struct {
	// GPUs are held, weights included: now, or at the end of a pod that has ended.
	GPUs *big.Rat
	// Start and End are of the whole interval, even if it is longer than the
	// window; an active pod's End is now.
	Start, End time.Time
	Active     bool
	Consumed   int64 // inside the window
	Estimated  int64 // of Consumed
	// Unconfirmed is in addition to Consumed.
	Unconfirmed int64
	ErrorBound  int64
}

// Pod measures a record; false if nothing of it is in the window.
func (m *Meter) Pod(r *ledger.Record) (PodUsage, bool) {
	if !m.matcher.Matches(setOf(r)) {
		return PodUsage{}, false
	}
	i := m.rules.allocations.intervalOf(r)
	c, counts := m.count(&i, m.begin)
	if !counts {
		return PodUsage{}, false
	}
	used := m.within(&c, m.begin)
	return PodUsage{
		GPUs: m.rules.rates[c.rate].rat(), Start: c.start.Time(), End: c.end.Time(), Active: c.active,
		Consumed: used.consumed, Estimated: used.estimated, Unconfirmed: used.unconfirmed, ErrorBound: used.bound,
	}, true
}

// GPUs is what the budget takes a record's allocation for now, weights included,
// whether or not it counts yet.
func (m *Meter) GPUs(r *ledger.Record) *big.Rat {
	i := m.rules.allocations.intervalOf(r)
	number := m.rules.rate(i.allocation)
	if isShared(r) {
		beside := m.claims == nil || !m.claims.pods[r.UID]
		number, _ = m.divider(i.allocation).rate(m.rules.vanished, m.now, beside)
	}
	return m.rules.rates[number].rat()
}

// counted is an interval as a budget counts it, from start to end. least is the earliest end that is certain,
// and most the latest possible one. Open intervals count until now.
type counted struct {
	start, least, end, most ledger.Time
	active                  bool
	// unconfirmed says that nothing confirms what is held: none of it counts.
	unconfirmed bool
	// rate is the number of that at which it uses; where it is divided, of that now,
	// or of the last.
	rate    int32
	divided *divided // nil where the rate stays the same
}

// amounts are the usage in a window.
type amounts struct {
	consumed, estimated, bound int64
	unconfirmed                int64 // in addition to consumed
}

// count finds what of an interval counts; false if nothing of it is after a
// moment, or may be.
func (m *Meter) count(i *interval, since ledger.Time) (counted, bool) {
	c, counts := m.extent(i)
	if !counts || !c.touches(since) {
		return c, false
	}
	what := m.rules.allocations.list[i.allocation]
	if c.rate = m.rules.rate(i.allocation); c.rate == 0 && what.corrected == 0 {
		return c, false
	}
	if what.corrected != 0 || m.claims.divides(what.allocation) {
		m.divide(&c, i)
	}
	return c, true
}

// extent returns when an interval counts; false if it does not count yet.
func (m *Meter) extent(i *interval) (counted, bool) {
	c := counted{start: i.start}
	if m.rules.from == budget.FromRunning {
		c.start = i.runs
	}
	if c.start == 0 || c.start > m.now {
		return c, false
	}
	if end := (ledger.End{Earliest: i.earliest, At: i.end}); end.Open() {
		c.least, c.end, c.most, c.active = m.now, m.now, m.now, true
	} else {
		point := end.Point(m.rules.vanished)
		c.active = point > m.now
		c.most = max(c.start, min(i.end, m.now))
		c.end = max(c.start, min(point, m.now))
		c.least = max(c.start, min(i.earliest, m.now))
	}
	if held := m.rules.allocations.list[i.allocation].allocation; held != nil && held.Shown == 0 {
		c.unconfirmed, c.least = true, c.start
	}
	return c, true
}

// touches reports whether some of the interval is after a moment, or may be.
func (c *counted) touches(from ledger.Time) bool {
	return c.active || c.most > from && c.most > c.start
}

// certain reports whether the interval's end is known.
func (c *counted) certain() bool { return c.least == c.most }

// within returns the usage of the interval after a moment.
func (m *Meter) within(c *counted, from ledger.Time) amounts {
	if c.divided != nil {
		return m.dividedWithin(c, from)
	}
	begin, r := max(c.start, from), m.rules.rates[c.rate]
	used := amounts{consumed: r.amount(int64(c.end - begin))}
	if c.certain() {
		return used
	}
	least := r.amount(int64(c.least - begin))
	most := r.amount(int64(c.most - begin))
	return used.between(least, most, c.unconfirmed)
}

// between returns how uncertain the amount is that is somewhere between two others.
func (a amounts) between(least, most int64, unconfirmed bool) amounts {
	if unconfirmed {
		return amounts{unconfirmed: a.consumed, bound: max(a.consumed, most)}
	}
	a.estimated = max(0, a.consumed-least)
	a.bound = max(a.estimated, most-a.consumed)
	return a
}
