package decide

import (
	"fmt"
	"iter"
	"math/big"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// enforcing is team-a with an action, published long ago.
func enforcing(a budget.Action) budget.Declaration {
	d := teamA()
	d.Enforce.Action = a
	d.PublishedAt = noon.AddDate(0, -1, 0)
	return d
}

// situation is a budget that has used so much, its limit reached an hour ago if
// at all, as the runs before have reported.
func situation(d budget.Declaration, consumed int64) Situation {
	limit, err := d.Limit()
	if err != nil {
		panic(err)
	}
	w, err := d.WindowAt(noon, time.LoadLocation)
	if err != nil {
		panic(err)
	}
	s := Situation{Declaration: d, Now: noon, RunID: "run", StoreNamespace: "gpupool-system"}
	s.Result = meter.Result{Name: d.Name, Usage: budget.Usage{
		WindowStart: w.Start, WindowEnd: w.End, Limit: limit, Consumed: consumed, Coverage: 1000, ByNamespace: map[string]int64{"ml": consumed},
	}}
	s.Previous = &budget.Status{Name: d.Name, UID: d.UID, Generation: d.Generation, At: noon.Add(-5 * time.Minute), Usage: s.Result.Usage, Fired: d.Thresholds}
	if consumed >= limit {
		since, reported := noon.Add(-time.Hour), noon.Add(-55*time.Minute)
		s.Result.ExceededSince, s.Previous.ExceededSince, s.Previous.ReportedAt = &since, &since, &reported
	}
	return s
}

// pod is a pod of team a that holds a GPU.
func pod(name string, priority int32) budget.Pod {
	held := gpu.Pod{
		UID: "uid-" + name, Namespace: "ml", Name: name, Allocation: *allocation("1", "1"),
		Scheduled: ledger.Start{At: ago(time.Hour), Source: ledger.PodScheduled}, Live: gpu.Live{Priority: priority},
	}
	return owned(budget.Pod{Pod: held, Set: set("ml", "team", "a"), MilliGPUs: 1000}, "apps/v1", "Deployment", "train")
}

// owned is the pod as one of a workload, which the cluster confirms.
func owned(p budget.Pod, version, kind, name string) budget.Pod {
	p.Of = budget.Ownership{Workload: budget.Workload{Namespace: "ml", Owner: ledger.Owner{APIVersion: version, Kind: kind, Name: name, UID: "uid-of-" + name}}}
	p.Owner = &p.Of.Workload.Owner
	return p
}

func kinds(p Plan) []budget.Kind {
	var list []budget.Kind
	for _, d := range p.Decisions {
		list = append(list, d.Kind)
	}
	return list
}

func evicted(p Plan) []string { return names(p.Decisions) }

func names(decisions []budget.Decision) []string {
	var list []string
	for _, d := range decisions {
		if d.Kind == budget.KindEvict {
			list = append(list, d.Pod.Name)
		}
	}
	return list
}

// noon is the now of tests that don't need another: a Wednesday.
var noon = time.Date(2026, 7, 15, 12, 0, 0, 0, time.UTC)

func ms(t time.Time) ledger.Time { return ledger.TimeOf(t) }

// ago is a moment before noon.
func ago(d time.Duration) ledger.Time { return ms(noon.Add(-d)) }

func of(records ...*ledger.Record) iter.Seq[*ledger.Record] {
	return func(yield func(*ledger.Record) bool) {
		for _, r := range records {
			if !yield(r) {
				return
			}
		}
	}
}

// observed is the header of a ledger that missed nothing in the last year.
func observed() ledger.Header {
	return ledger.Header{ClusterUID: "cluster", Began: ms(noon.AddDate(-1, 0, 0)), LastRun: ms(noon)}
}

func set(namespace string, labels ...string) *ledger.LabelSet {
	of := map[string]string{}
	for n := 0; n < len(labels); n += 2 {
		of[labels[n]] = labels[n+1]
	}
	return &ledger.LabelSet{Namespace: namespace, Labels: ledger.LabelsOf(of)}
}

func allocation(units, weight string) *ledger.Allocation {
	return &ledger.Allocation{Shown: 1, Shares: []ledger.Share{{Resource: "nvidia.com/gpu", Units: rat(units), Weight: rat(weight)}}}
}

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(fmt.Sprintf("%q is not a number", s))
	}
	return r
}

// record is a pod of team a in the namespace ml; end 0 is open.
func record(uid string, gpus string, start, end ledger.Time) *ledger.Record {
	r := &ledger.Record{
		UID: uid, Name: uid, Set: set("ml", "team", "a"), Allocation: allocation(gpus, "1"),
		Start: ledger.Start{At: start, Source: ledger.PodScheduled}, Runs: ledger.Start{At: start, Source: ledger.ContainerStarted},
	}
	if end != 0 {
		r.End = ledger.ExactEnd(end, ledger.ContainerFinished)
	}
	return r
}

// teamA is a budget of 100 GPU-hours in 24 hours, of the pods that record makes.
func teamA() budget.Declaration {
	return budget.Declaration{
		Name: "team-a", UID: "uid-a", Generation: 1, ClusterUID: "cluster", GPUHours: "100", Window: "24h",
		Selector: budget.Selector{Namespaces: []string{"ml"}, MatchLabels: map[string]string{"team": "a"}},
	}.WithDefaults()
}

// judged evaluates one budget.
func judged(t testing.TB, d budget.Declaration, h ledger.Header, now time.Time, records ...*ledger.Record) meter.Result {
	t.Helper()
	r := meter.Evaluate([]budget.Declaration{d}, of(records...), h, now, time.LoadLocation)[0]
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	return r
}
