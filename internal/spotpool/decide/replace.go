package decide

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// replace exchanges instances that work for better ones: on-demand instances that
// stood in for spot ones, and outdated ones by the refresh strategy. A run takes one
// step, an end or a launch ahead, so that each replacement is seen to work before the
// next. Where a step leaves the pool below minimum, it launches what is missing.
func replace(v View, t Tally) (Tally, Result) {
	if !v.mayLaunch() || v.unseen > 0 || v.SoFar.Refreshed {
		t.paused = v.mayLaunch()
		return t, Result{}
	}
	enough := t.coming >= v.Declaration.Minimum
	t, r := step(v, t)
	if enough {
		filled, more := topUp(v, t)
		r.add(more)
		return filled, r
	}
	return t, r
}

// step is one step of the replacements that are due first.
func step(v View, t Tally) (_ Tally, r Result) {
	if v.nodes != nil && v.nodes.ReplacingSuspended != "" { // too many nodes fail to know whether replacements would work
		if n := len(outdated(v, t)); n > 0 {
			r.shortf(spotpool.BecauseReplacement, "%d to be replaced (outdated configuration) once replacing is no longer suspended: %s", n,
				v.nodes.ReplacingSuspended)
		}
		return t, r
	}
	t, r, decided := exchange(v, t, standIns(v, t))
	if decided {
		return t, r
	}
	t, more, _ := exchange(v, t, refresh(v, t))
	r.add(more)
	return t, r
}

// outdated are the members that a refresh replaces.
func outdated(v View, t Tally) []Member {
	if v.Declaration.Refresh.Strategy == spotpool.RefreshNone {
		return nil
	}
	return choose(v, t, func(m Member) bool { return m.Drifted && replaceable(m) })
}

// refresh replaces outdated instances.
func refresh(v View, t Tally) swap {
	d, list := v.Declaration, outdated(v, t)
	s := swap{members: list, reason: "outdated configuration", batch: len(list)}
	for _, m := range t.members {
		// One of which the cloud refused the end stays. Uncounted, it would have on-demand
		// instances launched that standIns then ends, again and again.
		stays := slices.Contains(v.SoFar.Refused, m.ID) || !m.Drifted || !replaceable(m)
		if m.ChargeType == spotpool.OnDemand && m.held() && !t.leaving[m.ID] && stays {
			s.onDemand++
		}
	}
	if d.Refresh.Strategy == spotpool.RefreshRolling {
		s.surge, s.unavailable = d.Refresh.MaxSurge, d.Refresh.MaxUnavailable
		s.batch = max(1, s.surge+s.unavailable)
	}
	return s
}

// standIns replaces on-demand instances beyond the base once spot ones can take
// their place. Where maximum leaves no room for both, one is ended first.
func standIns(v View, t Tally) swap {
	d := v.Declaration
	extra := t.byCharge[spotpool.OnDemand] - d.OnDemandBase
	if d.OnDemandFallback == nil || d.InstanceChargeType != spotpool.Spot || extra <= 0 || v.Observation.Offers == nil {
		return swap{}
	}
	// An instance that works is not given up where another was just reclaimed.
	list, _ := candidates(v, t, spotpool.Spot)
	if !slices.ContainsFunc(list, func(c candidate) bool { return c.avoided == "" }) {
		return swap{}
	}
	members := choose(v, t, func(m Member) bool { return m.ChargeType == spotpool.OnDemand && replaceable(m) })
	members = firstToEnd(t, members, len(members))
	// Of those that work, the outdated ones: else what a refresh launches in their place,
	// and has no pods yet, would end, again and again.
	slices.SortStableFunc(members, func(a, b Member) int { return cmp.Or(leaving(a, b), trueFirst(a.Drifted, b.Drifted)) })
	s := swap{
		members: members[:min(extra, len(members))], onDemand: d.OnDemandBase,
		surge: extra, batch: extra, reason: "spot instances can be had again in place of on-demand ones",
	}
	if d.Maximum <= t.total+t.launched {
		s.unavailable, s.batch = 1, 1
	}
	return s
}

// replaceable reports whether an instance may be replaced: its state has settled, and
// nobody works on it as in rescue mode.
func replaceable(m Member) bool {
	return m.held() && m.expendable() && m.endable() && m.Condition != Unusable
}

// swap is a replacement of working instances.
type swap struct {
	members     []Member
	onDemand    int // how many on-demand instances stay
	surge       int // instances above minimum meanwhile
	unavailable int // instances below minimum meanwhile
	batch       int // how many are ended at once
	reason      string
}

// exchange ends members that the pool can spare, or else launches their replacements
// ahead where it may; it reports whether it decided anything. It ends no instance
// that works while the pool is short. Nor does it go below minimum where nothing
// could be launched in the place of what it ends.
func exchange(v View, t Tally, s swap) (Tally, Result, bool) {
	if len(s.members) == 0 {
		return t, Result{}, false
	}
	d := v.Declaration
	short := t.coming < d.Minimum
	batch, why := batchOf(v, t, s, short)
	if len(batch) > 0 {
		t, r := terminate(v, t, batch, true, s.reason)
		return t, r, true
	}
	var r Result
	above := t.coming - d.Minimum
	if ahead := min(s.surge-above, len(s.members)-above); ahead > 0 && !short {
		reason := fmt.Sprintf("launched ahead of ending %s: %s", wording.Some(ids(s.members)), s.reason)
		filled, more := fill(v, t, ahead, s.onDemand, true, reason)
		if filled.launched > t.launched {
			return filled, more, true
		}
		r = more
	}
	waits, awaited := awaitedReady(v, t, s)
	r.add(waits)
	if !awaited && above <= 0 {
		r.add(standstill(v, t, s, why))
	}
	return t, r, false
}

// batchOf picks the members that are ended now. It leaves out those whose
// replacements could not be launched; why then says what is in the way.
func batchOf(v View, t Tally, s swap, short bool) (batch []Member, why spotpool.Reasons) {
	minimum, available, replaced := v.Declaration.Minimum, t.available, 0
	hopeless := map[spotpool.Market]bool{}
	for _, m := range firstToEnd(t, s.members, len(s.members)) {
		runs := m.runs() // or did a moment ago, and may again
		spared := runs && (short || available <= minimum-s.unavailable)
		if len(batch) == s.batch || spared || hopeless[m.Market()] {
			continue
		}
		needed := !m.Ending && (!m.Available || available <= minimum)
		if unknown := unknownMarket(v); needed && runs && unknown != "" {
			why = spotpool.Reasons{{Code: spotpool.BecauseReplacement,
				Text: fmt.Sprintf("%d to be replaced (%s): %s unknown, and what works is not given up for what "+
					"may not be had", len(s.members), s.reason, unknown)}}
			continue
		}
		if needed {
			missing, reasons := missingAfter(v, t, append(batch[:len(batch):len(batch)], m), replaced+1)
			if missing > 0 {
				hopeless[m.Market()], why = true, reasons
				continue
			}
			replaced++
		}
		if m.Available {
			available--
		}
		batch = append(batch, m)
	}
	return batch, why
}

// unknownMarket says what of the market is not known for now; empty where enough is.
func unknownMarket(v View) string {
	switch {
	case v.Observation.Offers == nil:
		return "prices and stock are"
	case v.Observation.QuotaAway && v.Declaration.InstanceChargeType == spotpool.Spot:
		return "the spot quota is"
	}
	return ""
}

// missingAfter is how many of n replacements could not be launched once the members
// are gone, and why. It tries that, with the quota, the cost and the room which the
// members' ends give back.
func missingAfter(v View, t Tally, ended []Member, n int) (int, spotpool.Reasons) {
	v.Declaration.MaxLaunchesPerRun, v.SoFar.Launched = t.launched+n, 0
	t = t.without(v, ended)
	trial, r := fill(v, t, n, t.byCharge[spotpool.OnDemand], false, "a trial")
	return n - (trial.launched - t.launched), r.Short
}

func ids(list []Member) []string {
	names := make([]string, len(list))
	for n, m := range list {
		names[n] = m.ID
	}
	return names
}

// standstill says why nothing is replaced. why says what keeps replacements
// from being launched even once there is room for them.
func standstill(v View, t Tally, s swap, why spotpool.Reasons) Result {
	d, r := v.Declaration, Result{Short: why}
	switch {
	case len(why) > 0:
	case t.coming == d.Minimum && s.surge > 0 && t.room(v) == 0:
		r.shortf(spotpool.BecauseReplacement,
			"%d to be replaced (%s), and %d held of maximum %d leave no room to launch first: raise maximum, or allow max_unavailable",
			len(s.members), s.reason, t.total, d.Maximum)
	case t.coming == d.Minimum && s.surge > 0 && s.unavailable == 0:
		r.shortf(spotpool.BecauseReplacement,
			"%d to be replaced (%s), and nothing can be launched first: allow max_unavailable where what is ended makes room for it",
			len(s.members), s.reason)
	case s.surge == 0 && s.unavailable == 0:
		r.shortf(spotpool.BecauseReplacement, "%d to be replaced (%s) once the pool is above its minimum", len(s.members), s.reason)
	default:
		r.shortf(spotpool.BecauseReplacement, "%d to be replaced (%s) once more than %d are running, and %d %s", len(s.members), s.reason,
			d.Minimum-s.unavailable,
			t.available, wording.Are(t.available))
	}
	return r
}
