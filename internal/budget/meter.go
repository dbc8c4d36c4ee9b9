package budget

import (
	"math/big"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Meter measures single pods as a budget counts them. Evaluate sums up what it
// measures, and is much faster for many.
type Meter struct {
	valuation *valuation
	matcher   *Matcher
	window    Window
	from, now ledger.Time
}

// Meter makes a meter of the budget's window at a moment. An empty selector
// measures every pod.
func (d Declaration) Meter(now time.Time) (*Meter, error) {
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
	return &Meter{valuation: v, matcher: m, window: w, from: fromTime(w.Start), now: fromTime(now)}, nil
}

// PodUsage is one pod's part in a budget's usage.
type PodUsage struct {
	GPUs *big.Rat // held, weights included
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
	s, ok := m.valuation.stretch(r, m.now)
	if !ok || !s.touches(m.from) {
		return PodUsage{}, false
	}
	held := m.GPUs(r)
	if held.Sign() == 0 {
		return PodUsage{}, false
	}
	p := s.within(m.from, rateOf(held))
	return PodUsage{
		GPUs: held, Start: toTime(s.start), End: toTime(s.end), Active: s.active,
		Consumed: p.consumed, Estimated: p.estimated, ErrorBound: p.bound,
	}, true
}

// GPUs is what the budget takes a record's holding for, weights included, whether
// or not it counts yet.
func (m *Meter) GPUs(r *ledger.Record) *big.Rat {
	held := m.valuation.held(r.Held)
	if weight := m.valuation.model(r.Place); weight != nil {
		held.Mul(held, weight)
	}
	return held
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
