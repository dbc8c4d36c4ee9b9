package budget

import (
	"math/big"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Meter measures single pods as a budget counts them. Evaluate sums up what it
// measures, and is much faster for many.
type Meter struct {
	valuer    *valuer
	sharers   *Sharers
	matcher   *Matcher
	window    Window
	from, now ledger.Time
}

// Meter makes a meter of the budget's window at a moment. An empty selector
// measures every pod. The sharers are those of all records; without them, no pod
// shares what it holds.
func (d Declaration) Meter(now time.Time, sharers *Sharers) (*Meter, error) {
	v, err := d.valuation()
	if err != nil {
		return nil, err
	}
	m, err := d.Selector.Matcher()
	if err != nil {
		return nil, err
	}
	w, err := d.WindowAt(now)
	if err != nil {
		return nil, err
	}
	return &Meter{valuer: newValuer(v), sharers: sharers, matcher: m, window: w, from: fromTime(w.Start), now: fromTime(now)}, nil
}

// PodUsage is one pod's part in a budget's usage.
type PodUsage struct {
	// GPUs are held, weights included: now, or at the end of a pod that has ended.
	GPUs *big.Rat
	// Start and End are of the whole interval, also where it is longer than the
	// window; an active pod's End is now.
	Start, End time.Time
	Active     bool
	Consumed   int64 // inside the window
	Estimated  int64 // of Consumed
	ErrorBound int64
}

// Pod measures a record; false where nothing of it is in the window.
func (m *Meter) Pod(r *ledger.Record) (PodUsage, bool) {
	if !m.matcher.Matches(setOf(r)) {
		return PodUsage{}, false
	}
	s, ok := m.valuer.stretch(r, m.now)
	if !ok || !s.touches(m.from) {
		return PodUsage{}, false
	}
	number := m.valuer.rate(r)
	if number == 0 {
		return PodUsage{}, false
	}
	var p portion
	if m.sharers.divides(r) {
		parts := m.valuer.parts(r, s, m.sharers)
		p, number = parts.within(m.from), parts.last()
	} else {
		p = s.within(m.from, m.valuer.rates[number])
	}
	return PodUsage{
		GPUs: m.valuer.rates[number].rat(), Start: toTime(s.start), End: toTime(s.end), Active: s.active,
		Consumed: p.consumed, Estimated: p.estimated, ErrorBound: p.bound,
	}, true
}

// GPUs is what the budget takes a record's holding for now, weights included,
// whether or not it counts yet.
func (m *Meter) GPUs(r *ledger.Record) *big.Rat {
	number := m.valuer.rate(r)
	if isShared(r) {
		beside := m.sharers == nil || !m.sharers.pods[r.UID]
		number, _ = m.valuer.divider(r, m.sharers).rate(placeOf(m.valuer.vanished), m.now, beside)
	}
	return m.valuer.rates[number].rat()
}

// touches says whether some of the interval is after a moment, or may be.
func (s stretch) touches(from ledger.Time) bool { return s.active || s.most > from && s.most > s.start }

var noLabels = &ledger.LabelSet{}

func setOf(r *ledger.Record) *ledger.LabelSet {
	if r.Set == nil {
		return noLabels
	}
	return r.Set
}
