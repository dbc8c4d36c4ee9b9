package meter

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// TestSevenSeventhsAreOneGPU: sums in floating point drift, and so do sums of
// weights that were rounded too early. Time is multiplied in before the one
// rounding of an interval.
func TestSevenSeventhsAreOneGPU(t *testing.T) {
	t.Parallel()
	d := teamA()
	d.GPUHours = "1"
	slices := record("slices", "1", ago(2*time.Hour), ago(time.Hour))
	slices.Allocation = allocation("7", "1/7")
	r := judged(t, d, observed(), noon, slices)
	if r.Usage.Consumed != 3_600_000 || !r.Usage.Exceeded() || r.Usage.Remaining() != 0 {
		t.Errorf("%+v", r.Usage)
	}
	if since := r.ExceededSince; since == nil || !since.Equal(noon.Add(-time.Hour)) {
		t.Errorf("exceeded since %v", since)
	}
	var pods []*ledger.Record
	for n := range 7 {
		pods = append(pods, record(fmt.Sprint(n), "1/7", ago(2*time.Hour), ago(time.Hour)))
	}
	// Each pod's 514,285 5/7 are rounded, so that the budgets of any partition
	// add up; in hours it is one.
	if u := judged(t, d, observed(), noon, pods...).Usage; u.Consumed != 7*514_286 || budget.Hours(u.Consumed) != "1.000" {
		t.Errorf("%+v", u)
	}
	open := record("open", "1", ago(time.Hour), 0)
	open.Allocation = allocation("7", "1/7")
	if u := judged(t, teamA(), observed(), noon, open).Usage; u.BurnRate != 1000 {
		t.Errorf("it burns %d", u.BurnRate)
	}
}

// TestManySmallAmountsDoNotDrift: a tenth of a GPU for 30 seconds, fifty times.
func TestManySmallAmountsDoNotDrift(t *testing.T) {
	t.Parallel()
	var pods []*ledger.Record
	for n := range 50 {
		start := ago(time.Hour) + ledger.Time(n*100)
		pods = append(pods, record(fmt.Sprint(n), "0.1", start, start+30_000))
	}
	if u := judged(t, teamA(), observed(), noon, pods...).Usage; u.Consumed != 150_000 {
		t.Errorf("consumed %d, want 150000", u.Consumed)
	}
}

// TestPendingPodsUseNothing: what is not bound to a node holds no device, and by
// "running" a pod that pulls its image doesn't either.
func TestPendingPodsUseNothing(t *testing.T) {
	t.Parallel()
	pending := record("pending", "8", 0, 0)
	pulling := record("pulling", "8", ago(time.Hour), 0)
	pulling.Runs = ledger.Start{}
	d := teamA()
	if u := judged(t, d, observed(), noon, pending, pulling).Usage; u.Consumed != 8*budget.Hour || u.TrackedPods != 1 || u.BurnRate != 8000 {
		t.Errorf("scheduled: %+v", u)
	}
	d.CountFrom = budget.FromRunning
	if u := judged(t, d, observed(), noon, pending, pulling).Usage; u.Consumed != 0 || u.TrackedPods != 0 || u.BurnRate != 0 {
		t.Errorf("running: %+v", u)
	}
}

// TestLabelEditsMoveNoUsage: the ledger froze the labels, and both budgets judge
// by these.
func TestLabelEditsMoveNoUsage(t *testing.T) {
	t.Parallel()
	other := teamA()
	other.Name, other.UID, other.Selector = "team-b", "uid-b", budget.Selector{MatchLabels: map[string]string{"team": "b"}}
	results := Evaluate([]budget.Declaration{teamA(), other}, of(record("pod", "1", ago(time.Hour), 0)), observed(), noon, time.LoadLocation)
	if a, b := results[0].Usage.Consumed, results[1].Usage.Consumed; a != budget.Hour || b != 0 {
		t.Errorf("team-a %d, team-b %d", a, b)
	}
}

// TestVanishedPodsByPolicy: where in its range the end is taken to be, what of
// it is estimated, and by how much that may be wrong.
func TestVanishedPodsByPolicy(t *testing.T) {
	t.Parallel()
	r := record("pod", "2", ago(2*time.Hour), 0)
	r.End = ledger.End{Earliest: ago(time.Hour), At: ago(30 * time.Minute), Source: ledger.Estimated}
	tests := map[ledger.EndEstimate]budget.Usage{
		ledger.EstimateEarliest: {Consumed: 2 * budget.Hour, Estimated: 0, ErrorBound: budget.Hour},
		ledger.EstimateMidpoint: {Consumed: 5 * budget.Hour / 2, Estimated: budget.Hour / 2, ErrorBound: budget.Hour / 2},
		ledger.EstimateLatest:   {Consumed: 3 * budget.Hour, Estimated: budget.Hour, ErrorBound: budget.Hour},
	}
	for policy, want := range tests {
		d := teamA()
		d.PodEndEstimate = policy
		u := judged(t, d, observed(), noon, r).Usage
		if u.Consumed != want.Consumed || u.Estimated != want.Estimated || u.ErrorBound != want.ErrorBound || u.TrackedPods != 1 || u.ActivePods != 0 {
			t.Errorf("%s: %+v", policy, u)
		}
	}
}

// TestAbsurdTimesHarmNothing: ends before starts, starts to come, ends to come.
func TestAbsurdTimesHarmNothing(t *testing.T) {
	t.Parallel()
	backwards := record("backwards", "1", ago(time.Hour), ago(2*time.Hour))
	future := record("future", "1", ago(-time.Hour), 0)
	ends := record("ends", "1", ago(time.Hour), ago(-time.Hour))
	huge := record("huge", "1", 1, 0)
	huge.Allocation = allocation("1000000000000000000000000", "1")
	negative := record("negative", "1", ago(time.Hour), 0)
	negative.Allocation = allocation("-8", "1")
	bare := &ledger.Record{UID: "bare", Start: ledger.Start{At: ago(time.Hour)}}
	u := judged(t, teamA(), observed(), noon, backwards, future, ends, negative, bare).Usage
	if u.Consumed != budget.Hour || u.TrackedPods != 1 || u.ActivePods != 1 {
		t.Errorf("%+v", u)
	}
	if r := judged(t, teamA(), observed(), noon, huge, ends); !r.Usage.Exceeded() || r.Usage.Consumed < 0 || r.Usage.Remaining() != 0 ||
		r.ExceededSince == nil {
		t.Errorf("%+v", r)
	}
}

func TestWeights(t *testing.T) {
	t.Parallel()
	mixed := record("pod", "1", ago(time.Hour), 0)
	mixed.Allocation = &ledger.Allocation{Shown: 1, Shares: []ledger.Share{
		{Resource: "nvidia.com/gpu", Units: rat("2"), Weight: rat("1")}, {Resource: "nvidia.com/mig-1g.5gb", Units: rat("3"), Weight: rat("1/7")},
	}}
	mixed.Place = &ledger.Place{Model: "T4", InstanceType: "GN7.2XLARGE32"}
	tests := []struct {
		name              string
		resources, models map[string]string
		want              string
	}{
		{"the ledger's", nil, nil, "17/7"},
		{"a resource's", map[string]string{"nvidia.com/mig-1g.5gb": "0.25"}, nil, "11/4"},
		{"a model's", nil, map[string]string{"T4": "0.5"}, "17/14"},
		{"an instance type's", nil, map[string]string{"GN7.2XLARGE32": "2"}, "34/7"},
		{"the model goes first", nil, map[string]string{"GN7.2XLARGE32": "2", "T4": "1"}, "17/7"},
		{"both", map[string]string{"nvidia.com/gpu": "1/2"}, map[string]string{"T4": "7"}, "10"},
		{"another model's", nil, map[string]string{"A100": "4"}, "17/7"},
		{"nothing", map[string]string{"nvidia.com/gpu": "0", "nvidia.com/mig-1g.5gb": "0"}, nil, "0"},
	}
	for _, test := range tests {
		d := teamA()
		d.ResourceWeights, d.ModelWeights = test.resources, test.models
		want := roundRat(new(big.Rat).Mul(rat(test.want), big.NewRat(budget.Hour, 1)))
		if u := judged(t, d, observed(), noon, mixed).Usage; u.Consumed != want {
			t.Errorf("%s: %d, want %d", test.name, u.Consumed, want)
		}
	}
}

func TestBreakdowns(t *testing.T) {
	t.Parallel()
	a, b, c := record("a", "1", ago(time.Hour), 0), record("b", "2", ago(time.Hour), 0), record("c", "4", ago(time.Hour), 0)
	a.Set, b.Set, c.Set = set("ml", "team", "a", "job", "x"), set("web", "team", "a", "job", "y"), set("web", "team", "a")
	d := teamA()
	d.Selector = budget.Selector{MatchLabels: map[string]string{"team": "a"}}
	d.BreakdownLabels = []string{"job", "absent"}
	u := judged(t, d, observed(), noon, a, b, c).Usage
	if diff := cmp.Diff(map[string]int64{"ml": budget.Hour, "web": 6 * budget.Hour}, u.ByNamespace); diff != "" {
		t.Error(diff)
	}
	want := map[string]map[string]int64{"job": {"x": budget.Hour, "y": 2 * budget.Hour, "": 4 * budget.Hour}, "absent": {"": 7 * budget.Hour}}
	if diff := cmp.Diff(want, u.ByLabel); diff != "" {
		t.Error(diff)
	}
}

func TestLongBreakdownsKeepTheLargest(t *testing.T) {
	t.Parallel()
	d := teamA()
	d.BreakdownLabels = []string{"job"}
	var pods []*ledger.Record
	for n := range 1000 {
		r := record(fmt.Sprint(n), "1", ago(time.Duration(n+1)*time.Second), 0)
		r.Set = set("ml", "team", "a", "job", fmt.Sprint(n))
		pods = append(pods, r)
	}
	u := judged(t, d, observed(), noon, pods...).Usage
	jobs := u.ByLabel["job"]
	sum := int64(0)
	for _, amount := range jobs {
		sum += amount
	}
	if len(jobs) != MaxBreakdown || sum != u.Consumed || jobs["999"] != 1_000_000 || jobs["0"] != 0 || jobs[budget.Others] == 0 {
		t.Errorf("%d entries, sum %d of %d", len(jobs), sum, u.Consumed)
	}
	if jobs := judged(t, d, observed(), noon, pods[:MaxBreakdown]...).Usage.ByLabel["job"]; len(jobs) != MaxBreakdown || jobs[budget.Others] != 0 {
		t.Errorf("of as many as there may be, %d are kept and %d summed up", len(jobs), jobs[budget.Others])
	}
}

func TestOverlapsAreNamed(t *testing.T) {
	t.Parallel()
	selecting := func(name string, s budget.Selector) budget.Declaration {
		d := teamA()
		d.Name, d.Selector = name, s
		return d
	}
	list := []budget.Declaration{
		selecting("team-a", budget.Selector{MatchLabels: map[string]string{"team": "a"}}), selecting("ml", budget.Selector{Namespaces: []string{"ml"}}),
		selecting("web", budget.Selector{Namespaces: []string{"web"}}), selecting("team-a-again", budget.Selector{MatchLabels: map[string]string{"team": "a"}}),
		selecting("idle", budget.Selector{MatchExpressions: []budget.Expression{{Key: "team", Operator: "Exists"}}}),
	}
	list[4].Selector.Namespaces = []string{"elsewhere"}
	web := record("web", "1", ago(time.Hour), 0)
	web.Set = set("web")
	var got [][]string
	for _, r := range Evaluate(list, of(record("a", "1", ago(time.Hour), 0), web), observed(), noon, time.LoadLocation) {
		got = append(got, r.Overlaps)
	}
	if diff := cmp.Diff([][]string{{"ml", "team-a-again"}, {"team-a", "team-a-again"}, nil, {"ml", "team-a"}, nil}, got); diff != "" {
		t.Error(diff)
	}
}

func TestOneBadBudgetIsInNobodysWay(t *testing.T) {
	t.Parallel()
	zone, limit, selector := teamA(), teamA(), teamA()
	zone.Window, zone.Period, zone.TimeZone = "", budget.Day, "Mars/Olympus"
	limit.GPUHours = "none"
	selector.Selector.MatchExpressions = []budget.Expression{{Key: "a", Operator: "Gt", Values: []string{"1"}}}
	results := Evaluate([]budget.Declaration{zone, limit, teamA(), selector}, of(record("a", "1", ago(time.Hour), 0)), observed(), noon, time.LoadLocation)
	for n, wrong := range []bool{true, true, false, true} {
		if r := results[n]; (r.Err != nil) != wrong || r.Name != "team-a" {
			t.Errorf("%d: %+v", n, r)
		}
	}
	if results[2].Usage.Consumed != budget.Hour {
		t.Errorf("%+v", results[2])
	}
}

// TestWhatEndedAsTheWindowBeginsIsNotInIt: the budget does not count it, and no breakdown or overlap has it.
func TestWhatEndedAsTheWindowBeginsIsNotInIt(t *testing.T) {
	t.Parallel()
	other := teamA()
	other.Name = "other"
	results := resultsOf(t, []budget.Declaration{teamA(), other}, []*ledger.Record{record("pod", "1", ago(30*time.Hour), ago(24*time.Hour))})
	for n := range 2 {
		if r, u := results[n], results[n].Usage; u.TrackedPods != 0 || len(u.ByNamespace) != 0 || len(r.Overlaps) != 0 {
			t.Errorf("%+v", r)
		}
	}
}
