package decide

import (
	"cmp"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// replace replaces working instances: on-demand instances that replaced spot ones, and drifted
// ones by the refresh strategy. A run takes one step, a termination or a launch ahead, so that
// each replacement is observed to work before the next. If a step leaves the pool below
// minimum, it launches what is missing.
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

// step takes one step of the replacements.
func step(v View, t Tally) (_ Tally, r Result) {
	if v.nodes != nil && !v.nodes.ReplacingSuspended.IsZero() { // too many nodes fail: replacements might, too
		if n := len(drifted(v, t)); n > 0 {
			r.short(spotpool.BecauseReplacement, reason.ReplacedOnceResumed(reason.Count(n), v.nodes.ReplacingSuspended))
		}
		return t, r
	}
	t, r, decided := exchange(v, t, onDemandSwap(v, t))
	if decided {
		return t, r
	}
	t, more, decided := launchBase(v, t)
	if r.add(more); decided {
		return t, r
	}
	t, more, _ = exchange(v, t, refresh(v, t))
	r.add(more)
	return t, r
}

// drifted returns the members that a refresh replaces.
func drifted(v View, t Tally) []Member {
	if v.Declaration.Refresh.Strategy == spotpool.RefreshNone {
		return nil
	}
	return choose(v, t, func(m Member) bool { return m.Drifted && replaceable(m) })
}

// refresh returns the swap of drifted instances.
func refresh(v View, t Tally) swap {
	d, list := v.Declaration, drifted(v, t)
	s := swap{members: list, why: reason.DriftedConfiguration(), batch: len(list)}
	for _, m := range t.members {
		// An instance that Tencent Cloud refused to terminate stays. If it were not counted,
		// refresh would launch on-demand instances, and onDemandSwap would terminate them.
		stays := slices.Contains(v.SoFar.Refused, m.ID) || !m.Drifted || !replaceable(m)
		if m.ChargeType == spotpool.OnDemand && m.counted() && !t.leaving[m.ID] && stays {
			s.onDemand++
		}
	}
	if d.Refresh.Strategy == spotpool.RefreshRolling {
		s.surge, s.unavailable = d.Refresh.MaxSurge, d.Refresh.MaxUnavailable
		s.batch = max(1, s.surge+s.unavailable)
	}
	return s
}

// onDemandSwap returns the swap of on-demand instances above the base, once spot instances
// are available. If maximum leaves no room for both, one is terminated first.
func onDemandSwap(v View, t Tally) swap {
	d := v.Declaration
	extra := t.byCharge[spotpool.OnDemand] - d.OnDemandBase
	if d.OnDemandFallback == nil || d.InstanceChargeType != spotpool.Spot || extra <= 0 || v.Observation.Offers == nil {
		return swap{}
	}
	// A working instance is kept if another one was just lost in each offering.
	list, _ := candidates(v, t, spotpool.Spot)
	if !slices.ContainsFunc(list, func(c candidate) bool { return c.avoided.IsZero() }) {
		return swap{}
	}
	members := choose(v, t, func(m Member) bool { return m.ChargeType == spotpool.OnDemand && replaceable(m) })
	members = pickTerminations(t, members, len(members))
	// Of those that work, the drifted ones first. Else their replacements, which have no pods
	// yet, would be terminated again and again.
	slices.SortStableFunc(members, func(a, b Member) int { return cmp.Or(leaving(a, b), trueFirst(a.Drifted, b.Drifted)) })
	s := swap{
		members: members[:min(extra, len(members))], onDemand: d.OnDemandBase,
		surge: extra, batch: extra, why: reason.SpotAvailable(),
	}
	if d.Maximum <= t.total+t.launched {
		s.unavailable, s.batch = 1, 1
	}
	return s
}

// launchBase launches the on-demand instances that on_demand_base lacks, if there is room for them. The spot instances
// that they replace are then a surplus. Nothing is terminated before: the quota for on-demand instances is unknown.
func launchBase(v View, t Tally) (_ Tally, r Result, launches bool) {
	d := v.Declaration
	missing := v.onDemandBase() - t.byCharge[spotpool.OnDemand]
	if d.InstanceChargeType != spotpool.Spot || missing <= 0 || t.coming < d.Minimum {
		return t, r, false
	}
	filled, r := launch(v, t, missing, spotpool.OnDemand, true, onDemandBaseReason(d))
	if filled.launched > t.launched {
		return filled, r, true
	}
	running, base := reason.Count(t.byCharge[spotpool.OnDemand]), reason.Count(v.onDemandBase())
	if t.room(v) == 0 {
		r.short(spotpool.BecauseReplacement, reason.OnDemandBaseNoRoom(running, base, reason.Count(t.total), reason.Count(d.Maximum)))
	} else {
		r.short(spotpool.BecauseReplacement, reason.OnDemandBaseNotLaunched(running, base))
	}
	return t, r, false
}

// onDemandBase is how many on-demand instances the pool keeps: no more than its minimum is launched.
func (v View) onDemandBase() int { return min(v.Declaration.OnDemandBase, v.Declaration.Minimum) }

func onDemandBaseReason(d spotpool.Declaration) reason.Reason {
	return reason.OnDemandBase(reason.Count(d.OnDemandBase))
}

// beyondBase returns the members of a list that may leave, and those that on_demand_base keeps.
func beyondBase(v View, t Tally, list []Member) (may, kept []Member) {
	extra := t.byCharge[spotpool.OnDemand] - v.onDemandBase()
	for _, m := range list {
		switch {
		case v.Declaration.InstanceChargeType != spotpool.Spot || m.ChargeType != spotpool.OnDemand || !m.capacity():
			may = append(may, m)
		case extra > 0:
			extra--
			may = append(may, m)
		default:
			kept = append(kept, m)
		}
	}
	return may, kept
}

// replaceable reports whether an instance can be replaced: its state is stable, and not for
// maintenance, such as rescue mode.
func replaceable(m Member) bool {
	return m.counted() && m.expendable() && m.endable() && m.Condition != Unusable
}

// swap is a replacement of working instances.
type swap struct {
	members     []Member
	onDemand    int // how many on-demand instances stay
	surge       int // instances above minimum meanwhile
	unavailable int // instances below minimum meanwhile
	batch       int // how many are terminated at once
	why         reason.Reason
}

// exchange terminates members that the pool can spare, or else launches their replacements
// ahead if it may. It reports whether it decided anything. It keeps working instances while
// the pool is short, and while their replacements could not be launched.
func exchange(v View, t Tally, s swap) (Tally, Result, bool) {
	if len(s.members) == 0 {
		return t, Result{}, false
	}
	d := v.Declaration
	short := t.coming < d.Minimum
	batch, why := batchOf(v, t, s, short)
	if len(batch) > 0 {
		t, r := terminate(v, t, batch, true, s.why)
		return t, r, true
	}
	var r Result
	above := t.coming - d.Minimum
	if ahead := min(s.surge-above, len(s.members)-above); ahead > 0 && !short {
		because := reason.LaunchedFirst(ids(s.members), s.why)
		filled, more := fill(v, t, ahead, s.onDemand, true, because)
		if filled.launched > t.launched {
			return filled, more, true
		}
		r = more
	}
	waits, awaited := waitForReady(v, t, s)
	r.add(waits)
	if !awaited && above <= 0 {
		r.add(blockedReplacement(v, t, s, why))
	}
	return t, r, false
}

// batchOf picks the members that are terminated now. It omits those whose replacements could
// not be launched; why then says what blocks them.
func batchOf(v View, t Tally, s swap, short bool) (batch []Member, why spotpool.Reasons) {
	minimum, available, replaced := v.Declaration.Minimum, t.available, 0
	hopeless := map[spotpool.Market]bool{}
	for _, m := range pickTerminations(t, s.members, len(s.members)) {
		runs := m.runs() // or did a moment ago, and may again
		spared := runs && (short || available <= minimum-s.unavailable)
		if len(batch) == s.batch || spared || hopeless[m.Market()] {
			continue
		}
		needed := !m.Ending && (!m.Available || available <= minimum)
		if unknown := unknownMarket(v); needed && runs && unknown != "" {
			why = spotpool.Reasons{{
				Code: spotpool.BecauseReplacement, Why: reason.MarketUnknown(reason.Count(len(s.members)), s.why, reason.Word(unknown)),
			}}
			continue
		}
		if needed {
			missing, reasons := missingReplacements(v, t, append(batch[:len(batch):len(batch)], m), replaced+1)
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

// unknownMarket says what is unknown about the market; empty if enough is known.
func unknownMarket(v View) string {
	switch {
	case v.Observation.Offers == nil:
		return "prices and stock are"
	case v.Observation.QuotaAway && v.Declaration.InstanceChargeType == spotpool.Spot:
		return "the spot quota is"
	}
	return ""
}

// missingReplacements returns how many of n replacements could not be launched once the members are
// gone, and why. It tries that with their quota, cost and room.
func missingReplacements(v View, t Tally, ended []Member, n int) (int, spotpool.Reasons) {
	v.Declaration.MaxLaunchesPerRun, v.SoFar.Launched = t.launched+n, 0
	t = t.without(v, ended)
	trial, r := fill(v, t, n, t.byCharge[spotpool.OnDemand], false, reason.Reason{})
	return n - (trial.launched - t.launched), r.Short
}

func ids(list []Member) []string {
	names := make([]string, len(list))
	for n, m := range list {
		names[n] = m.ID
	}
	return names
}

// blockedReplacement says why nothing is replaced. why says what blocks the launch of replacements,
// even once there is room.
func blockedReplacement(v View, t Tally, s swap, why spotpool.Reasons) Result {
	d, r, n, because := v.Declaration, Result{Short: why}, reason.Count(len(s.members)), s.why
	switch {
	case len(why) > 0:
	case t.coming == d.Minimum && s.surge > 0 && t.room(v) == 0:
		r.short(spotpool.BecauseReplacement, reason.ReplaceNoRoom(n, because, reason.Count(t.total), reason.Count(d.Maximum)))
	case t.coming == d.Minimum && s.surge > 0 && s.unavailable == 0:
		r.short(spotpool.BecauseReplacement, reason.ReplaceNotLaunched(n, because))
	case s.surge == 0 && s.unavailable == 0:
		r.short(spotpool.BecauseReplacement, reason.ReplacedAboveMinimum(n, because))
	default:
		r.short(spotpool.BecauseReplacement, reason.ReplacedOnceRunning(n, because, reason.Count(d.Minimum-s.unavailable), reason.Count(t.available)))
	}
	return r
}
