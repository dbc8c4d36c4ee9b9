package decide

import (
	"cmp"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// surplus returns how many working instances replacements left above the baseline. It is 0
// while others that work are replaced, since replacements are launched ahead. One that does not work may be in the
// way for good: Tencent Cloud can refuse its termination in each run.
func (v View) surplus(t Tally) int {
	if v.Declaration.KeepsSurplus() || v.Hold != nil || v.drains() ||
		slices.ContainsFunc(slices.Concat(drifted(v, t), onDemandSwap(v, t).members), Member.works) {
		return 0
	}
	n := -v.Journal.Baseline
	for _, m := range t.members {
		if m.works() && !t.leaving[m.ID] {
			n++
		}
	}
	return max(0, n)
}

// surplusTime returns for how long the pool has had a surplus. If the pool has nodes, only an
// observation of their cluster shows that.
func (v View) surplusTime(t Tally) node.Elapsed {
	switch lasted := v.Journal.Surplus; {
	case v.surplus(t) == 0:
		return node.Elapsed{}
	case v.Declaration.Nodes != nil && !v.Observation.Cluster.Observed():
		return lasted.Missed()
	default:
		return lasted.Continue(v.Now, v.Declaration.SurplusLimit())
	}
}

// endSurplus terminates what replacements left above the baseline, after surplus_after, the
// newest first. It terminates only available instances, and keeps minimum of them, and on_demand_base.
func endSurplus(v View, t Tally) (_ Tally, r Result) {
	n, limit := v.surplus(t), v.Declaration.SurplusLimit()
	if n == 0 {
		return t, r
	}
	if lasted := v.Journal.Surplus; lasted.For(v.Now) < limit {
		until := lasted.Until(limit, v.Now)
		r.because(spotpool.Reason{Code: spotpool.BecauseSurplus, Until: until, Why: reason.SurplusLater(reason.Count(n), reason.Count(v.Journal.Baseline),
			reason.Instant{Time: until}, reason.Duration(limit))})
		return t, r
	}
	list := choose(v, t, func(m Member) bool { return m.Available && replaceable(m) })
	slices.SortFunc(list, func(a, b Member) int { return cmp.Or(leaving(a, b), age(a, b)) })
	list, _ = beyondBase(v, t, list)
	list = list[:max(0, min(n, len(list), t.available-v.Declaration.Minimum))]
	if left := n - len(list); left > 0 {
		r.because(surplusReason(v, t, n, left))
	}
	t, more := terminate(v, t, list, false, reason.SurplusOver(reason.Count(n), reason.Count(v.Journal.Baseline), reason.Duration(limit)))
	r.add(more)
	return t, r
}

// surplusReason says why some of a surplus are kept now, and until when, if known.
func surplusReason(v View, t Tally, surplus, kept int) spotpool.Reason {
	r := spotpool.Reason{Code: spotpool.BecauseSurplus}
	var protected, refused, fresh, others reason.Names
	var causes reason.Reasons
	for _, m := range t.members {
		known, _ := v.Journal.Of(m.ID)
		switch {
		case !m.works() || t.leaving[m.ID]:
		case m.Protection() != "":
			protected = append(protected, m.ID)
		case slices.Contains(v.SoFar.Refused, m.ID):
			refused = append(refused, m.ID)
		case !m.Available && known.Node.Ready:
			fresh = append(fresh, m.ID)
			if until := known.Node.Observed.Until(node.MinReady, v.Now); until.After(r.Until) {
				r.Until = until
			}
		case !m.Available || !replaceable(m):
			others = append(others, m.ID)
		}
	}
	for _, cause := range []reason.Reason{
		reason.KeptProtected(protected), reason.KeptRefused(refused), reason.KeptNotReady(others),
		reason.KeptFresh(fresh, reason.Duration(node.MinReady), reason.Instant{Time: r.Until}),
	} {
		if len(cause.Args[0].(reason.Names)) > 0 {
			causes = append(causes, cause)
		}
	}
	if t.available <= v.Declaration.Minimum {
		causes = append(causes, reason.KeptOfMinimum(reason.Count(t.available), reason.Count(v.Declaration.Minimum)))
	}
	r.Why = reason.SurplusKept(reason.Count(surplus), reason.Count(v.Journal.Baseline), reason.Count(kept), causes)
	return r
}
