package spotpool

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// replace exchanges instances that work for better ones: on-demand instances that
// stood in for spot ones, and outdated ones by the refresh strategy. A run takes one
// step, an end or a launch ahead, so that each replacement is seen to work before the
// next. Where a step leaves the pool below minimum, a later run launches what is
// missing.
func (p *planner) replace() {
	if !p.mayLaunch() || p.unseen > 0 || p.SoFar.Refreshed {
		p.paused = p.mayLaunch()
		return
	}
	enough := p.coming >= p.Declaration.Minimum
	if p.plan.Nodes != nil && p.plan.Nodes.ReplacingSuspended != "" {
		p.explainSuspended()
	} else if !p.backToSpot() {
		p.refresh()
	}
	if enough {
		p.topUp()
	}
}

// outdated are the members that a refresh replaces.
func (p *planner) outdated() []Member {
	if p.Declaration.Refresh.Strategy == RefreshNone {
		return nil
	}
	return p.choose(func(m Member) bool { return m.Outdated && replaceable(m) })
}

// refresh replaces outdated instances.
func (p *planner) refresh() {
	d := p.Declaration
	outdated := p.outdated()
	if len(outdated) == 0 {
		return
	}
	s := swap{members: outdated, reason: "outdated configuration", batch: len(outdated)}
	for _, m := range p.plan.Members {
		// One of which the cloud refused the end stays. Uncounted, it would have on-demand
		// instances launched that backToSpot then ends, again and again.
		stays := slices.Contains(p.SoFar.Refused, m.ID) || !m.Outdated || !replaceable(m)
		if m.ChargeType == OnDemand && m.held() && !p.ending[m.ID] && stays {
			s.onDemand++
		}
	}
	if d.Refresh.Strategy == RefreshRolling {
		s.surge, s.unavailable = d.Refresh.MaxSurge, d.Refresh.MaxUnavailable
		s.batch = max(1, s.surge+s.unavailable)
	}
	p.swap(s)
}

// backToSpot ends on-demand instances beyond the base once spot ones can take
// their place. Where maximum leaves no room for both, one is ended first.
func (p *planner) backToSpot() bool {
	d := p.Declaration
	extra := p.byCharge[OnDemand] - d.OnDemandBase
	if d.OnDemandFallback == nil || d.InstanceChargeType != Spot || extra <= 0 || p.Observation.Offers == nil {
		return false
	}
	// An instance that works is not given up where another was just reclaimed.
	safe := false
	list, _ := p.candidates(Spot)
	for _, o := range list {
		safe = safe || o.avoided == ""
	}
	if !safe {
		return false
	}
	standIns := p.choose(func(m Member) bool { return m.ChargeType == OnDemand && replaceable(m) })
	standIns = p.firstToEnd(standIns, len(standIns))
	// Of those that work, the outdated ones: else what a refresh launches in their place,
	// and has no pods yet, would end, again and again.
	slices.SortStableFunc(standIns, func(a, b Member) int { return cmp.Or(leaving(a, b), trueFirst(a.Outdated, b.Outdated)) })
	s := swap{
		members: standIns[:min(extra, len(standIns))], onDemand: d.OnDemandBase,
		surge: extra, batch: extra, reason: "spot instances can be had again in place of on-demand ones",
	}
	if d.Maximum <= p.plan.Held+p.launched {
		s.unavailable, s.batch = 1, 1
	}
	return p.swap(s)
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

// swap ends members that the pool can spare, or else launches their replacements
// ahead where it may; it reports whether it decided anything. It ends no instance
// that works while the pool is short. Nor does it go below minimum where nothing
// could be launched in the place of what it ends.
func (p *planner) swap(s swap) bool {
	if len(s.members) == 0 {
		return false
	}
	d := p.Declaration
	short := p.coming < d.Minimum
	batch, why := p.batchOf(s, short)
	p.terminate(batch, true, s.reason)
	if len(batch) > 0 {
		return true
	}
	above := p.coming - d.Minimum
	if ahead := min(s.surge-above, len(s.members)-above); ahead > 0 && !short {
		reason := fmt.Sprintf("launched ahead of ending %s: %s", wording.Some(ids(s.members)), s.reason)
		if p.fill(ahead, s.onDemand, true, reason) > 0 {
			return true
		}
	}
	if !p.awaitsReady(s) && above <= 0 {
		p.explainStandstill(s, why)
	}
	return false
}

// batchOf picks the members that are ended now. It leaves out those whose
// replacements could not be launched; why then says what is in the way.
func (p *planner) batchOf(s swap, short bool) (batch []Member, why Reasons) {
	minimum, available, replaced := p.Declaration.Minimum, p.available, 0
	hopeless := map[Market]bool{}
	for _, m := range p.firstToEnd(s.members, len(s.members)) {
		runs := m.runs() // or did a moment ago, and may again
		spared := runs && (short || available <= minimum-s.unavailable)
		if len(batch) == s.batch || spared || hopeless[m.Market()] {
			continue
		}
		needed := !m.Ending && (!m.Available || available <= minimum)
		if unknown := p.unknownMarket(); needed && runs && unknown != "" {
			why = Reasons{{Code: BecauseReplacement, Text: fmt.Sprintf("%d to be replaced (%s): %s unknown, and what works is not given up for what "+
				"may not be had", len(s.members), s.reason, unknown)}}
			continue
		}
		if needed {
			missing, reasons := p.missingAfter(append(batch[:len(batch):len(batch)], m), replaced+1)
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
func (p *planner) unknownMarket() string {
	switch {
	case p.Observation.Offers == nil:
		return "prices and stock are"
	case p.Observation.QuotaAway && p.Declaration.InstanceChargeType == Spot:
		return "the spot quota is"
	}
	return ""
}

// missingAfter is how many of n replacements could not be launched once the members
// are gone, and why. It decides them on a copy of the plan that has the quota, the
// cost and the room which the members' ends give back.
func (p *planner) missingAfter(ended []Member, n int) (int, Reasons) {
	trial := *p
	trial.plan.Decisions, trial.plan.Short, trial.seqTags = nil, nil, nil
	trial.byCharge, trial.byZone = maps.Clone(p.byCharge), maps.Clone(p.byZone)
	trial.asked, trial.vCPUs = maps.Clone(p.asked), maps.Clone(p.vCPUs)
	trial.Declaration.MaxLaunchesPerRun, trial.SoFar.Launched = p.launched+n, 0
	for _, m := range ended {
		trial.plan.Held--
		trial.byCharge[m.ChargeType]--
		trial.byZone[m.AvailabilityZone]--
		trial.spent -= p.costOf(m)
		if m.ChargeType == Spot {
			trial.vCPUs[m.AvailabilityZone] -= p.offers[m.Market()].VCPUs
		}
	}
	got := trial.fill(n, trial.byCharge[OnDemand], false, "a trial")
	return n - got, trial.plan.Short
}

func ids(list []Member) []string {
	names := make([]string, len(list))
	for n, m := range list {
		names[n] = m.ID
	}
	return names
}

// explainStandstill notes why nothing is replaced. why says what keeps replacements
// from being launched even once there is room for them.
func (p *planner) explainStandstill(s swap, why Reasons) {
	d := p.Declaration
	for _, o := range why {
		p.note(o)
	}
	switch {
	case len(why) > 0:
	case p.coming == d.Minimum && s.surge > 0 && p.room() == 0:
		p.short(BecauseReplacement, "%d to be replaced (%s), and %d held of maximum %d leave no room to launch first: raise maximum, or allow max_unavailable",
			len(s.members), s.reason, p.plan.Held, d.Maximum)
	case p.coming == d.Minimum && s.surge > 0 && s.unavailable == 0:
		p.short(BecauseReplacement, "%d to be replaced (%s), and nothing can be launched first: allow max_unavailable where what is ended makes room for it",
			len(s.members), s.reason)
	case s.surge == 0 && s.unavailable == 0:
		p.short(BecauseReplacement, "%d to be replaced (%s) once the pool is above its minimum", len(s.members), s.reason)
	default:
		p.short(BecauseReplacement, "%d to be replaced (%s) once more than %d are running, and %d %s", len(s.members), s.reason, d.Minimum-s.unavailable,
			p.available, isAre(p.available))
	}
}
