package meter

import (
	"fmt"
	"iter"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// drawRecords draws records within a few hours around noon, on a coarse grid of
// times so that edges fall together.
func drawRecords(t *rapid.T) []*ledger.Record {
	sets := []*ledger.LabelSet{
		set("ml", "team", "a"), set("ml", "team", "a", "tier", "gpu"), set("ml", "team", "b"), set("web"), set("web", "team", "a", "job", "7"),
		set("ml", "tier", "batch"), set("ops", "team", "a"),
	}
	sets[6].NamespaceLabels = ledger.LabelsOf(map[string]string{"cost": "7", "env": "prod"})
	held := []*ledger.Allocation{allocation("1", "1"), allocation("8", "1"), allocation("1", "1/7"), allocation("3", "1/4"), allocation("0", "1"),
		unconfirmed("64"), {Shown: 1, Shares: []ledger.Share{
			{Resource: "nvidia.com/gpu", Units: rat("2"), Weight: rat("1")}, {Resource: "qgpu", Units: rat("25"), Weight: rat("1/100")},
		}}, byClaims("c1"), byClaims("c1"), byClaims("c2", "c1"), {Shown: 1, Shares: []ledger.Share{
			{Resource: "nvidia.com/gpu", Units: rat("1"), Weight: rat("1")}, {Resource: "qgpu", Units: rat("50"), Weight: rat("1/100"), Claim: "c2"},
		}}, fraction("1/2", "g1"), fraction("1/4", "g1"), fraction("1", "g1"), fraction("3/4", "g1", "g2")}
	places := []*ledger.Place{nil, {Node: "n1", Model: "T4", InstanceType: "GN7"}, {Node: "n2", InstanceType: "GN7"}, {Node: "n3", Model: "A100"}}
	step := func(label string, least, most int) ledger.Time {
		return ms(noon.Add(time.Duration(rapid.IntRange(least, most).Draw(t, label)) * 7 * time.Minute))
	}
	return rapid.SliceOfN(rapid.Custom(func(t2 *rapid.T) *ledger.Record {
		r := &ledger.Record{
			UID: fmt.Sprint(rapid.Int().Draw(t2, "uid")), Set: rapid.SampledFrom(sets).Draw(t2, "set"), Allocation: rapid.SampledFrom(held).Draw(t2, "held"),
			Place: rapid.SampledFrom(places).Draw(t2, "place"), Start: ledger.Start{At: step("start", -40, 2)},
		}
		if rapid.Bool().Draw(t2, "running") {
			r.Runs.At = r.Start.At + ledger.Time(rapid.IntRange(0, 2_000_000).Draw(t2, "pulled"))
		}
		switch rapid.IntRange(0, 3).Draw(t2, "ended") {
		case 0, 1:
			r.End = ledger.ExactEnd(step("end", -40, 2), ledger.ContainerFinished)
		case 2:
			earliest := step("earliest", -40, 0)
			r.End = ledger.End{
				Earliest: earliest, At: min(ms(noon), earliest+ledger.Time(rapid.IntRange(0, 4_000_000).Draw(t2, "range"))), Source: ledger.Estimated,
			}
		}
		return r
	}), 0, 25).Draw(t, "records")
}

func drawBudgets(t *rapid.T) []budget.Declaration {
	selectors := []budget.Selector{
		{Namespaces: []string{"ml"}}, {Namespaces: []string{"ml", "web"}, MatchLabels: map[string]string{"team": "a"}},
		{MatchLabels: map[string]string{"team": "a"}}, {MatchExpressions: []budget.Expression{{Key: "team", Operator: "NotIn", Values: []string{"b"}}}},
		{MatchExpressions: []budget.Expression{{Key: "tier", Operator: "In", Values: []string{"gpu", "batch"}}}},
		{MatchExpressions: []budget.Expression{{Key: "job", Operator: "Exists"}}},
		{NamespaceLabels: map[string]string{"env": "prod"}}, {MatchExpressions: []budget.Expression{{Key: "job", Operator: "NotIn", Values: []string{"7"}}}},
	}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) budget.Declaration {
		d := budget.Declaration{
			Name: "b", GPUHours: rapid.SampledFrom([]string{"0.001", "0.5", "1", "3.25", "8", "20"}).Draw(t, "limit"),
			Selector:  rapid.SampledFrom(selectors).Draw(t, "selector"),
			CountFrom: rapid.SampledFrom([]budget.CountFrom{budget.FromScheduled, budget.FromRunning}).Draw(t, "from"),
			PodEndEstimate: rapid.SampledFrom([]ledger.EndEstimate{ledger.EstimateEarliest, ledger.EstimateMidpoint, ledger.EstimateLatest}).Draw(t,
				"vanished"),
			BreakdownLabels: []string{"team"},
		}
		switch rapid.IntRange(0, 3).Draw(t, "window") {
		case 0:
			d.Period = budget.Day
		case 1:
			d.Window = "45m"
		case 2:
			d.Window = "2h"
		case 3:
			d.Period, d.TimeZone = budget.Day, "Asia/Tokyo"
		}
		if rapid.Bool().Draw(t, "weighed") {
			d.ModelWeights = map[string]string{"T4": "1/3", "GN7": "2"}
			d.ResourceWeights = map[string]string{"qgpu": "1/50"}
		}
		return d.WithDefaults()
	}), 1, 6).Draw(t, "budgets")
}

// usedAt adds up, the slow and simple way, what a budget has used at a moment;
// it counts exactly, without rounding.
func usedAt(d budget.Declaration, records iter.Seq[*ledger.Record], now, at time.Time) *big.Rat {
	m, err := New(d, now, nil, time.LoadLocation)
	if err != nil {
		panic(err)
	}
	from, until := m.begin, ms(at)
	if m.window.Rolling {
		from += until - ms(now)
	}
	return usedBetween(m, records, now, from, until)
}

// usedBetween adds up what counts in a time, exactly.
func usedBetween(m *Meter, records iter.Seq[*ledger.Record], now time.Time, from, until ledger.Time) *big.Rat {
	all := slices.Collect(records)
	sum := new(big.Rat)
	for _, r := range all {
		c, ok := countedOf(m, r)
		if !ok || c.unconfirmed || !m.matcher.Matches(r.Set) {
			continue
		}
		end := c.end
		if c.active {
			end = until
		}
		used := integral(m, r, all, max(c.start, from), min(end, until), ms(now))
		if r.Place != nil {
			used.Mul(used, m.rules.model(r.Place.Model, r.Place.InstanceType))
		}
		sum.Add(sum, used)
	}
	return sum
}

// countedOf is when a record counts.
func countedOf(m *Meter, r *ledger.Record) (counted, bool) {
	i := m.rules.allocations.intervalOf(r)
	return m.extent(&i)
}

// integral is what a record's pod uses. At each moment that is divided by how often the whole is requested
// then. Current holders keep holding it.
func integral(m *Meter, r *ledger.Record, all []*ledger.Record, from, until, now ledger.Time) *big.Rat {
	ends := func(r *ledger.Record) ledger.Time {
		if r.Open() {
			return now + 1
		}
		return r.End.Point(m.rules.vanished)
	}
	if until <= from {
		return new(big.Rat)
	}
	cuts := []ledger.Time{from, until}
	for _, other := range all {
		for _, at := range []ledger.Time{other.Start.At, ends(other)} {
			if at > from && at < until && at <= now {
				cuts = append(cuts, at)
			}
		}
	}
	slices.Sort(cuts)
	sum := new(big.Rat)
	for n := 1; n < len(cuts); n++ {
		at := min(cuts[n-1], now)
		for _, share := range r.Allocation.Shares {
			asked := new(big.Rat)
			for _, other := range all {
				n := slices.IndexFunc(other.Allocation.Shares, func(s ledger.Share) bool { return s.Claim == share.Claim })
				switch {
				case n < 0 || other.Start.At > at || ends(other) <= at:
				case other.Allocation.Shares[n].Whole == nil:
					asked.Add(asked, big.NewRat(1, 1))
				default:
					asked.Add(asked, new(big.Rat).Quo(other.Allocation.Shares[n].Units, other.Allocation.Shares[n].Whole))
				}
			}
			used := m.rules.share(&share)
			if share.Claim != "" && asked.Cmp(big.NewRat(1, 1)) > 0 {
				used.Quo(used, asked)
			}
			sum.Add(sum, used.Mul(used, new(big.Rat).SetInt64(int64(cuts[n]-cuts[n-1]))))
		}
	}
	return sum
}

func TestEvaluateAgreesWithOneMeterAPod(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records, budgets := drawRecords(t), drawBudgets(t)
		for n, r := range resultsOf(t, budgets, records) {
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			m, err := New(budgets[n], noon, ClaimsOf(of(records...)), time.LoadLocation)
			if err != nil {
				t.Fatal(err)
			}
			var want budget.Usage
			burn := new(big.Rat)
			teams := map[string]int64{}
			for _, record := range records {
				p, ok := m.Pod(record)
				if !ok {
					continue
				}
				want.TrackedPods++
				want.Consumed += p.Consumed
				want.Estimated += p.Estimated
				want.ErrorBound += p.ErrorBound
				want.Unconfirmed += p.Unconfirmed
				if (record.Allocation.Shown == 0) != (p.Unconfirmed > 0) && p.ErrorBound > 0 && p.End.After(p.Start) || p.Unconfirmed > 0 && p.Consumed > 0 {
					t.Fatalf("confirmed and unconfirmed usage are not apart: %+v", p)
				}
				teams[record.Set.Labels.Get("team")] += p.Consumed
				if p.Active && record.Allocation.Shown > 0 {
					want.ActivePods++
					burn.Add(burn, p.GPUs)
				}
			}
			u := r.Usage
			if u.Consumed != want.Consumed || u.Estimated != want.Estimated || u.ErrorBound != want.ErrorBound || u.Unconfirmed != want.Unconfirmed ||
				u.TrackedPods != want.TrackedPods || u.ActivePods != want.ActivePods {
				t.Fatalf("budget %d: got %+v, and pod by pod %+v", n, u, want)
			}
			if rate := roundRat(burn.Mul(burn, big.NewRat(1000, 1))); u.BurnRate != rate {
				t.Fatalf("budget %d burns %d, and pod by pod %d", n, u.BurnRate, rate)
			}
			sum := int64(0)
			for team, amount := range u.ByLabel["team"] {
				if amount != teams[team] {
					t.Fatalf("team %q used %d, and pod by pod %d", team, amount, teams[team])
				}
				sum += amount
			}
			for _, amount := range u.ByNamespace {
				sum -= amount
			}
			if sum != 0 {
				t.Fatalf("the breakdowns differ by %d", sum)
			}
		}
	})
}

// TestCrossingsAreWhereUsageReachesTheLimit holds the sweep to what the slow sum
// says just before, at and after each moment that it names.
func TestCrossingsAreWhereUsageReachesTheLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records, budgets := drawRecords(t), drawBudgets(t)
		for n, r := range resultsOf(t, budgets, records) {
			d := budgets[n]
			limit := new(big.Rat).SetInt64(r.Usage.Limit)
			reached := func(at time.Time) bool { return usedAt(d, of(records...), noon, at).Cmp(limit) >= 0 }
			if reached(noon) != r.Usage.Exceeded() {
				continue // rounded differently, pod by pod
			}
			if (r.ExceededSince != nil) != r.Usage.Exceeded() {
				t.Fatalf("budget %d: exceeded %t, since %v", n, r.Usage.Exceeded(), r.ExceededSince)
			}
			checkPast(t, r, reached)
			checkAhead(t, d, r, reached)
		}
	})
}

func checkPast(t *rapid.T, r Result, reached func(time.Time) bool) {
	if r.ExceededSince == nil {
		return
	}
	since := *r.ExceededSince
	if since.After(noon) || !reached(since) {
		t.Fatalf("the limit is not reached at %s", since)
	}
	if reached(since.Add(-time.Millisecond)) {
		t.Fatalf("the limit is reached before %s", since)
	}
	for at := since; at.Before(noon); at = at.Add(noon.Sub(since)/37 + time.Millisecond) {
		if !reached(at) {
			t.Fatalf("since %s, and below the limit at %s", since, at)
		}
	}
}

// checkAhead allows a second: a period's projection is made of what was rounded,
// pod by pod.
func checkAhead(t *rapid.T, d budget.Declaration, r Result, reached func(time.Time) bool) {
	ahead := r.Usage.ProjectedExhaustion
	horizon := r.Usage.WindowEnd
	if r.Usage.WindowEnd.Equal(noon) {
		length, _ := budget.ParseWindow(d.Window)
		horizon = noon.Add(length)
	}
	if ahead != nil {
		if !reached(ahead.Add(time.Second)) || ahead.Before(noon) {
			t.Fatalf("the limit is not reached at %s", ahead)
		}
		horizon = ahead.Add(-time.Second)
	}
	if r.Usage.Exceeded() {
		return
	}
	for at := noon; at.Before(horizon); at = at.Add(horizon.Sub(noon)/37 + time.Millisecond) {
		if reached(at) {
			t.Fatalf("the limit is reached at %s already, and is to be at %v", at, ahead)
		}
	}
}
