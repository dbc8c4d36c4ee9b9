package meter

import (
	"fmt"
	"iter"
	"math/big"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Evaluate judges all budgets at once, as of now. It returns a result for each declaration, in their order.
// It reads the records twice, each time all of them, and keeps none, so that a caller may reuse one. A budget
// that cannot be judged has an error in its result, and does not affect the others.
//
// The records are sorted by their label sets first. Each set is matched against selectors once. Each of its
// intervals is measured once for all budgets that select it and count alike. The steps are read
// (intervals.go), by label sets (labels.go), count, and cross (sweep.go), for when a limit was reached.
func Evaluate(declarations []budget.Declaration, records iter.Seq[*ledger.Record], h ledger.Header, now time.Time, zones budget.Zones) []Result {
	e := &evaluation{
		records: records, now: ledger.TimeOf(now), allocations: newAllocations(), claims: newClaims(),
		sets: newLabelSets(),
	}
	results := make([]Result, len(declarations))
	known := map[string]*rules{}
	earliest := e.now
	for n, d := range declarations {
		a, err := e.open(d, now, zones, known)
		if err != nil {
			results[n] = Result{Name: d.Name, Err: fmt.Errorf("budget %s: %w", d.Name, err)}
			continue
		}
		a.result = &results[n]
		e.accounts = append(e.accounts, a)
		e.sets.add(a, d)
		earliest = min(earliest, a.meter.begin)
	}
	e.gaps = newGaps(h, e, earliest)
	e.read()
	e.count()
	for _, a := range e.accounts {
		*a.result = e.settle(a)
	}
	return results
}

type evaluation struct {
	records     iter.Seq[*ledger.Record]
	now         ledger.Time
	accounts    []*account
	sets        *labelSets
	allocations *allocations
	claims      *Claims
	gaps        *gaps
	// steps and room are kept from sweep to sweep, and pieces from recovery to recovery.
	steps, room []step
	pieces      []piece
}

// open makes a budget's account. Those with the same rules share what is known of
// rates.
func (e *evaluation) open(d budget.Declaration, now time.Time, zones budget.Zones, known map[string]*rules) (*account, error) {
	limit, err := d.Limit()
	if err != nil {
		return nil, err
	}
	m, err := New(d, now, e.claims, zones)
	if err != nil {
		return nil, err
	}
	key := m.rules.key()
	if known[key] == nil {
		m.rules.id, m.rules.allocations = len(known), e.allocations
		known[key] = m.rules
	}
	m.rules = known[key]
	a := &account{name: d.Name, limit: limit, falls: d.LimitFalls, meter: m, active: map[int32]int{}, byNamespace: map[string]int64{}}
	for _, key := range d.BreakdownLabels {
		if a.byLabel == nil {
			a.byLabel = map[string]map[string]int64{}
		}
		a.byLabel[key] = map[string]int64{}
	}
	return a, nil
}

// count sums up what the pods of each label set used, for all that select it.
func (e *evaluation) count() {
	var used []tally
	for _, s := range e.sets.byText {
		used = append(used[:0], make([]tally, len(s.accounts))...)
		for n := range s.intervals {
			countInterval(&s.intervals[n], s.accounts, used)
		}
		for n, a := range s.accounts {
			if used[n].pods > 0 {
				s.used = true
				a.add(s, used[n])
			}
		}
	}
}

// countInterval adds to what each account's pods used. It counts again only if the rules differ: sort
// accounts by their rules, see byRules.
func countInterval(i *interval, accounts []*account, used []tally) {
	var by *rules // of the account before
	var c counted
	counts := false
	for n, a := range accounts {
		if a.meter.rules != by {
			by = a.meter.rules
			c, counts = a.meter.count(i, a.meter.begin)
		}
		if !counts || !c.touches(a.meter.begin) {
			continue
		}
		used[n].add(a.meter.within(&c, a.meter.begin), 1)
		if c.active && !c.unconfirmed && c.rate != 0 {
			a.active[c.rate]++
		}
	}
}

// settle turns an account into the result of its budget.
func (e *evaluation) settle(a *account) Result {
	m, total := a.meter, a.total
	burn, pods := new(big.Rat), 0
	for number, n := range a.active {
		pods += n
		burn.Add(burn, new(big.Rat).Mul(m.rules.rates[number].rat(), big.NewRat(int64(n), 1)))
	}
	for key, amounts := range a.byLabel {
		a.byLabel[key] = largest(amounts)
	}
	missed := e.gaps.missed(m)
	r := Result{Name: a.name, Overlaps: a.overlaps(), LongestGap: missed.longest, Unbounded: missed.boundless}
	r.Usage = budget.Usage{
		WindowStart: m.window.Start, WindowEnd: m.window.End, Limit: a.limit,
		Consumed: total.consumed, Estimated: total.estimated, Unconfirmed: total.unconfirmed, ErrorBound: plus(total.bound, missed.amount),
		Missed:   missed.amount,
		Coverage: e.gaps.coverage(m.begin), TrackedPods: total.pods, ActivePods: pods,
		BurnRate:    roundRat(new(big.Rat).Mul(burn, big.NewRat(1000, 1))),
		ByNamespace: largest(a.byNamespace), ByLabel: a.byLabel,
	}
	r.Lost, r.EndsLost = e.gaps.lost(m.begin)
	r.KnownSince = e.gaps.knownSince(m.begin)
	r.Forgotten = r.KnownSince != nil && e.gaps.header.KeptSince > m.begin
	e.cross(a, &r, burn)
	return r
}
