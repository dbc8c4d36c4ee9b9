package meter

import (
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// TestRecoveries has cases that can be computed by hand: intervals as [GPUs, began, ended] in hours before
// noon. An end below zero means none.
func TestRecoveries(t *testing.T) {
	t.Parallel()
	const tick = time.Millisecond
	tests := []struct {
		name          string
		limit, window string
		period        budget.Period
		intervals     [][3]float64
		recovers      time.Time
	}{
		{name: "below its limit", limit: "11", window: "24h", intervals: [][3]float64{{2, 5, -1}}},
		{
			name: "at its limit, as soon as something leaves", limit: "10", window: "24h", intervals: [][3]float64{{2, 5, -1}},
			recovers: noon.Add(hours(19) + tick),
		},
		{name: "once an hour has left", limit: "8", window: "24h", intervals: [][3]float64{{2, 5, -1}}, recovers: noon.Add(hours(20) + tick)},
		{name: "begun before the window", limit: "4", window: "4h", intervals: [][3]float64{{2, 400, -1}}, recovers: noon.Add(hours(2) + tick)},
		{name: "of pods that ended", limit: "4", window: "4h", intervals: [][3]float64{{2, 3.5, 1}, {1, 2, 0}}, recovers: noon.Add(hours(2) + tick)},
		{
			name: "where the last of it leaves", limit: "0.001", window: "4h", intervals: [][3]float64{{1, 4, 3}, {1, 2, 1}},
			recovers: noon.Add(hours(3) - 3600*tick + tick),
		},
		{
			name: "after a time in which nothing leaves", limit: "2", window: "4h", intervals: [][3]float64{{1, 4, 3}, {2, 1, 0}},
			recovers: noon.Add(hours(3) + tick),
		},
		{name: "with its period", limit: "4", period: budget.Day, intervals: [][3]float64{{2, 10, 8}}, recovers: noon.Add(hours(12))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := teamA()
			d.GPUHours, d.Window, d.Period = test.limit, test.window, test.period
			at := judged(t, d, observed(), noon, podsOf(test.intervals)...).Usage.RecoversAt
			if test.recovers.IsZero() != (at == nil) || at != nil && !at.Equal(test.recovers) {
				t.Errorf("recovers at %v, want %s", at, test.recovers)
			}
		})
	}
}

// TestARecoveryHeedsTheEndsOfGrants: a limit that falls before usage does is the one
// that counts.
func TestARecoveryHeedsTheEndsOfGrants(t *testing.T) {
	t.Parallel()
	const tick = time.Millisecond
	d := teamA()
	d.GPUHours, d.Window = "4", "24h"
	used := podsOf([][3]float64{{2, 5, -1}}) // 10 hours
	for until, want := range map[time.Duration]time.Time{
		hours(23):  noon.Add(hours(20) + tick), // by 8, before the grant ends
		hours(20):  noon.Add(hours(22) + tick), // by 4, as it ends before that
		hours(0.5): noon.Add(hours(22) + tick),
	} {
		grant := budget.Grant{GPUHours: "4"}
		grant.ID, grant.From, grant.Until = "g", noon.Add(-tick), noon.Add(until)
		granted := d.Granted(budget.Grants{List: []budget.Grant{grant}}, noon)
		if at := judged(t, granted, observed(), noon, used...).Usage.RecoversAt; at == nil || !at.Equal(want) {
			t.Errorf("with a grant for %s it recovers at %v, not %s", until, at, want)
		}
	}
}

// TestUnconfirmedUsageDelaysNoRecovery has usage that nothing confirms: it neither reaches a limit nor keeps
// usage above it.
func TestUnconfirmedUsageDelaysNoRecovery(t *testing.T) {
	t.Parallel()
	d := teamA()
	d.GPUHours = "10"
	made := record("made-up", "1", ago(time.Hour), 0)
	made.Allocation = unconfirmed("64")
	at := judged(t, d, observed(), noon, record("pod", "2", ago(5*time.Hour), 0), made).Usage.RecoversAt
	if want := noon.Add(19*time.Hour + time.Millisecond); at == nil || !at.Equal(want) {
		t.Errorf("recovers at %v, want %s", at, want)
	}
}

// TestRecoveriesMatchUsage sums usage pod by pod, with all pods ended now. It is below the limit at the
// reported moment, and not a millisecond before.
func TestRecoveriesMatchUsage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records, budgets := drawRecords(t), drawBudgets(t)
		for n, r := range resultsOf(t, budgets, records) {
			at := r.Usage.RecoversAt
			if (at != nil) != r.Usage.Exceeded() {
				t.Fatalf("budget %d: exceeded %t, recovers at %v", n, r.Usage.Exceeded(), at)
			}
			if at == nil {
				continue
			}
			ended := endedNow(records, budgets[n].PodEndEstimate)
			if !at.After(noon) || podByPod(t, budgets[n], ended, *at) >= r.Usage.Limit {
				t.Fatalf("budget %d: usage is not below the limit at %s", n, at)
			}
			before := at.Add(-time.Millisecond)
			if podByPod(t, budgets[n], ended, before) < r.Usage.Limit {
				t.Fatalf("budget %d: usage is below the limit before %s", n, at)
			}
			for moment, exceeded := range map[time.Time]bool{*at: false, before: true} {
				if u := Evaluate(budgets[n:n+1], of(ended...), observed(), moment, time.LoadLocation)[0].Usage; u.Exceeded() != exceeded {
					t.Fatalf("budget %d, which recovers at %s: exceeded %t at %s", n, at, u.Exceeded(), moment)
				}
			}
		}
	})
}

// endedNow are the records with an end at noon of all that holds GPUs then; what begins
// later is not there.
func endedNow(records []*ledger.Record, policy ledger.EndEstimate) []*ledger.Record {
	var ended []*ledger.Record
	for _, r := range records {
		now := *r
		if r.Open() || r.End.Point(policy) > ms(noon) {
			now.End = ledger.ExactEnd(ms(noon), ledger.ContainerFinished)
		}
		if r.Start.At <= ms(noon) {
			ended = append(ended, &now)
		}
	}
	return ended
}

// podByPod is what a budget has used at a moment, by one meter a pod, without what only
// pods themselves say.
func podByPod(t *rapid.T, d budget.Declaration, records []*ledger.Record, at time.Time) int64 {
	m, err := New(d, at, ClaimsOf(of(records...)), time.LoadLocation)
	if err != nil {
		t.Fatal(err)
	}
	used := int64(0)
	for _, r := range records {
		if p, counts := m.Pod(r); counts && r.Allocation.Shown > 0 {
			used += p.Consumed
		}
	}
	return used
}

// TestHugeRecoveriesHarmNothing: amounts that no limit could ever reach.
func TestHugeRecoveriesHarmNothing(t *testing.T) {
	t.Parallel()
	huge := record("huge", "1", 1, 0)
	huge.Allocation.Shares[0].Units = new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(24), nil))
	at := judged(t, teamA(), observed(), noon, huge).Usage.RecoversAt
	if want := noon.Add(24 * time.Hour); at == nil || !at.Equal(want) {
		t.Errorf("recovers at %v, want %s", at, want)
	}
}
