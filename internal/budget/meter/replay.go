package meter

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Replayed is the result of a budget's limit over a past time, from all that is known by now.
type Replayed struct {
	From, Until time.Time
	Limit       int64
	// Peak is the most that was used at a moment; PeakAt is the first such moment, and
	// of a period that ended its end.
	Peak       int64
	PeakAt     time.Time
	Thresholds []ReplayedThreshold // in the order of their percents
	// Exceeded are the times in which the limit would have been exceeded, in order.
	Exceeded []Excess
	// ByNamespace and ByLabel are what was used in all of these times.
	ByNamespace map[string]int64
	ByLabel     map[string]map[string]int64
}

// ReplayedThreshold is when a threshold would have been reported.
type ReplayedThreshold struct {
	Percent int
	Amount  int64 // of the limit, rounded up
	// Before says that it was reached when the replay began; ReachedAt has what came
	// after that.
	Before    bool
	ReachedAt []time.Time
}

// Excess is a time in which a limit would have been exceeded.
type Excess struct {
	Since time.Time
	// Until is when it would have ended; zero if it goes on.
	Until  time.Time
	Length time.Duration // up to Until, or to the end of the replay
	Peak   int64
	PeakAt time.Time
	// ByNamespace and ByLabel are what was used from Since on: who held GPUs then.
	ByNamespace map[string]int64
	ByLabel     map[string]map[string]int64
}

// Total is for how long the limit would have been exceeded.
func (r Replayed) Total() time.Duration {
	total := time.Duration(0)
	for _, e := range r.Exceeded {
		total += e.Length
	}
	return total
}

// Replay judges a budget at every moment from one on until now. Thresholds are reported and re-arm as if runs
// were continuous. Nothing is enforced: evicted pods ended when they did. As in Evaluate, unconfirmed usage
// counts for nothing.
//
// It reads the records twice. Dropped records are unknown: before CompleteFrom usage may have been higher.
func Replay(d budget.Declaration, records iter.Seq[*ledger.Record], from, now time.Time, zones budget.Zones) (Replayed, error) {
	p, err := newReplay(d, records, ledger.TimeOf(from), ledger.TimeOf(now), zones)
	if err != nil {
		return Replayed{}, fmt.Errorf("budget %s: %w", d.Name, err)
	}
	p.run(d)
	return p.result(), nil
}

// CompleteFrom returns from when on a budget's whole window lies after a moment. Earlier
// results may lack usage.
func CompleteFrom(d budget.Declaration, known time.Time, zones budget.Zones) (time.Time, error) {
	span, err := d.Span(zones)
	if err != nil {
		return time.Time{}, err
	}
	if span.Rolling > 0 {
		return known.Add(span.Rolling), nil
	}
	if w := span.At(known); w.Start.Before(known) {
		return w.End, nil
	}
	return known, nil
}

// replay follows a budget's usage through a time that is past.
type replay struct {
	account   *account
	span      budget.Span
	from, now ledger.Time
	steps     []step // of what counts, in the order of time
	parts     int64  // of a GPU
	// scaled are the rates by their numbers, in parts of a GPU.
	scaled []int64

	limit      *watch
	thresholds []*watch
	peak       *peak
}

// counted yields all that the budget counts, set by set.
func (p *replay) counted(yield func(*labelSet, counted) bool) {
	for _, set := range p.account.sets {
		for n := range set.intervals {
			if c, counts := p.account.meter.count(&set.intervals[n], 0); counts && !yield(set, c) {
				return
			}
		}
	}
}

// newReplay gathers what is replayed.
func newReplay(d budget.Declaration, records iter.Seq[*ledger.Record], from, now ledger.Time, zones budget.Zones) (*replay, error) {
	if from >= now {
		return nil, fmt.Errorf("there is nothing to replay between %s and %s", wording.Instant(from.Time()), wording.Instant(now.Time()))
	}
	e := &evaluation{records: records, now: now, allocations: newAllocations(), claims: newClaims(), sets: newLabelSets()}
	a, err := e.open(d, now.Time(), zones, map[string]*rules{})
	if err != nil {
		return nil, err
	}
	span, err := d.Span(zones)
	if err != nil {
		return nil, err
	}
	e.accounts = append(e.accounts, a)
	e.sets.add(a, d)
	e.gaps = newGaps(ledger.Header{}, e, now)
	e.read()
	p := &replay{account: a, span: span, from: from, now: now}
	p.gather()
	return p, nil
}

// gather finds the steps of all that the budget counts.
func (p *replay) gather() {
	most := 0
	for _, set := range p.account.sets {
		most += 2 * len(set.intervals)
	}
	p.steps = make([]step, 0, most)
	for _, c := range p.counted {
		if !c.unconfirmed {
			p.steps = c.appendSteps(p.steps)
		}
	}
	p.scaled, p.parts = inParts(p.account.meter.rules.rates, p.steps)
	scale(p.steps, p.scaled)
	p.steps, _ = byTime(p.steps, make([]step, len(p.steps)))
}

// run follows usage.
func (p *replay) run(d budget.Declaration) {
	limit := p.account.limit
	p.limit = p.watch(limit, 100, 100)
	for _, percent := range slices.Compact(slices.Sorted(slices.Values(d.Thresholds))) {
		p.thresholds = append(p.thresholds, p.watch(limit, percent, percent-budget.RearmBelow))
	}
	p.peak = &peak{}
	p.limit.peaks = true
	p.pass(&follower{from: p.from, peak: p.peak, watches: append([]*watch{p.limit}, p.thresholds...)}, p.steps)
}

// result writes down what the watches saw.
func (p *replay) result() Replayed {
	r := Replayed{From: p.from.Time(), Until: p.now.Time(), Limit: p.account.limit, Peak: p.amount(p.peak.used), PeakAt: p.peak.at.Time()}
	for _, w := range p.thresholds {
		t := ReplayedThreshold{Percent: w.percent, Amount: w.amount}
		for _, risen := range w.spans {
			if risen.before {
				t.Before = true
			} else {
				t.ReachedAt = append(t.ReachedAt, risen.since.Time())
			}
		}
		r.Thresholds = append(r.Thresholds, t)
	}
	for _, risen := range p.limit.spans {
		e := Excess{Since: risen.since.Time(), Peak: p.amount(risen.peak.used), PeakAt: risen.peak.at.Time()}
		end := p.now
		if risen.until != 0 {
			end, e.Until = risen.until, risen.until.Time()
		}
		e.Length = time.Duration(end-risen.since) * time.Millisecond
		r.Exceeded = append(r.Exceeded, e)
	}
	p.holders(&r)
	return r
}

// amount is what a sum of parts of a GPU times milliseconds is, rounded half up.
func (p *replay) amount(used wide) int64 {
	used = used.plus(wide{lo: uint64(p.parts / 2)})
	if product(p.parts, math.MaxInt64).below(used) {
		return math.MaxInt64
	}
	return used.floor(p.parts)
}
