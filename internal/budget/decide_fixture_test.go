package budget

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// enforcing is team-a with an action, published long ago.
func enforcing(a Action) Declaration {
	d := teamA()
	d.Enforce.Action = a
	d.PublishedAt = noon.AddDate(0, -1, 0)
	return d
}

// situation is a budget that has used so much, its limit reached an hour ago if
// at all, as the runs before have reported.
func situation(d Declaration, consumed int64) Situation {
	limit, err := d.Limit()
	if err != nil {
		panic(err)
	}
	w, err := d.WindowAt(noon, time.LoadLocation)
	if err != nil {
		panic(err)
	}
	s := Situation{Declaration: d, Now: noon, RunID: "run", StoreNamespace: "gpupool-system"}
	s.Result = Result{Name: d.Name, Usage: Usage{
		WindowStart: w.Start, WindowEnd: w.End, Limit: limit, Consumed: consumed, Coverage: 1000, ByNamespace: map[string]int64{"ml": consumed},
	}}
	s.Previous = &Status{Name: d.Name, UID: d.UID, Generation: d.Generation, At: noon.Add(-5 * time.Minute), Usage: s.Result.Usage, Fired: d.Thresholds}
	if consumed >= limit {
		since, reported := noon.Add(-time.Hour), noon.Add(-55*time.Minute)
		s.Result.ExceededSince, s.Previous.ExceededSince, s.Previous.ReportedAt = &since, &since, &reported
	}
	return s
}

// pod is a pod of team a that holds a GPU.
func pod(name string, priority int32) Pod {
	held := gpu.Pod{
		UID: "uid-" + name, Namespace: "ml", Name: name, Allocation: *allocation("1", "1"),
		Scheduled: ledger.Start{At: ago(time.Hour), Source: ledger.PodScheduled}, Live: gpu.Live{Priority: priority},
	}
	return owned(Pod{Pod: held, Set: set("ml", "team", "a"), MilliGPUs: 1000}, "apps/v1", "Deployment", "train")
}

// owned is the pod as one of a workload, which the cluster confirms.
func owned(p Pod, version, kind, name string) Pod {
	p.Of = Ownership{Workload: Workload{Namespace: "ml", Owner: ledger.Owner{APIVersion: version, Kind: kind, Name: name, UID: "uid-of-" + name}}}
	p.Owner = &p.Of.Workload.Owner
	return p
}

func kinds(p Plan) []Kind {
	var list []Kind
	for _, d := range p.Decisions {
		list = append(list, d.Kind)
	}
	return list
}

func evicted(p Plan) []string { return names(p.Decisions) }

func names(decisions []Decision) []string {
	var list []string
	for _, d := range decisions {
		if d.Kind == KindEvict {
			list = append(list, d.Pod.Name)
		}
	}
	return list
}
