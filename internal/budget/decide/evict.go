package decide

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// evict decides to evict as many pods with GPUs as one run may. The others replace those whose
// eviction is blocked.
func evict(f *facts) (r result) {
	r.Decisions, r.Reserves = f.evictions(f.victims(&r, "eviction"))
	if n := len(r.Reserves); n > 0 {
		r.warn(reason.EvictedLater(reason.Count(n), reason.Count(f.Declaration.Enforce.MaxEvictionsPerRun)))
	}
	r.Ineffective = requests{f}.ineffective(nil)
	return r
}

// evictions returns the evictions of one run, and those in reserve.
func (f *facts) evictions(victims []budget.Pod) (first, reserves []budget.Decision) {
	f.sortVictims(victims)
	order, most := f.Declaration.Enforce.EvictionOrder, f.Declaration.Enforce.MaxEvictionsPerRun
	var list []budget.Decision
	failures := map[string]int{} // of Jobs, by UID
	for n, p := range victims {
		rank := &budget.Rank{Number: n + 1, Of: len(victims), Order: order, Why: evictionReason(p, order)}
		reasons := f.reasons()
		if job := p.Of.Workload; job.Kind == "Job" && !p.Of.ToleratesDisruption {
			if failures[job.UID]++; failures[job.UID] > p.Of.FailuresLeft {
				reasons = append(reasons, reason.FailsJob(reason.Workload(job.String())))
			}
		}
		list = append(list, budget.Decision{Kind: budget.KindEvict, Pod: &p, Rank: rank, Reasons: append(reasons, rank.Reason())})
	}
	most = min(most, len(list))
	return list[:most], list[most:]
}

// evictionReason returns the reason for a pod's position in the order.
func evictionReason(p budget.Pod, order budget.EvictionOrder) reason.Reason {
	holds := reason.Holds(gpus(p.MilliGPUs), reason.Instant{Time: p.Scheduled.At.Time()})
	switch {
	case order == budget.SpotFirst && p.Spot:
		return reason.OnSpot(holds)
	case order == budget.SpotFirst || order == budget.LowestPriority:
		return reason.WithPriority(reason.Count(p.Priority), holds)
	}
	return holds
}

// sortVictims sorts pods by the eviction order. Among equals, the lower priority comes first, then the
// newer start, which loses the least work.
func (f *facts) sortVictims(victims []budget.Pod) {
	now, from := ledger.TimeOf(f.Now), ledger.TimeOf(f.usage.WindowStart)
	inWindow := func(p budget.Pod) int64 { return int64(max(0, now-max(p.Scheduled.At, from))) }
	first := func(a, b budget.Pod) int {
		switch f.Declaration.Enforce.EvictionOrder {
		case budget.NewestStart:
			return cmp.Compare(b.Scheduled.At, a.Scheduled.At)
		case budget.SpotFirst:
			return cmp.Compare(rank(!a.Spot), rank(!b.Spot))
		case budget.LargestUsage:
			return compareProducts(b.MilliGPUs, inWindow(b), a.MilliGPUs, inWindow(a))
		}
		return 0
	}
	slices.SortFunc(victims, func(a, b budget.Pod) int {
		return cmp.Or(first(a, b), cmp.Compare(a.Priority, b.Priority), cmp.Compare(b.Scheduled.At, a.Scheduled.At),
			strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.UID, b.UID))
	})
}

// rank returns 0 for false and 1 for true.
func rank(last bool) int {
	if last {
		return 1
	}
	return 0
}
