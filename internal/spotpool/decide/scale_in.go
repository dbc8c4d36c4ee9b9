package decide

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// aboveMaximum says why instances above maximum are terminated.
func aboveMaximum(v View, total int) reason.Reason {
	if v.Declaration.Maximum == 0 {
		return reason.NoneDesired()
	}
	return reason.AboveMaximum(reason.Count(total), reason.Count(v.Declaration.Maximum))
}

// trim terminates instances above maximum. It also terminates isolated instances if a
// replacement needs their room: Tencent Cloud destroys them anyway.
func trim(v View, t Tally) (_ Tally, r Result) {
	d := v.Declaration
	// Instances that were not found yet may not exist: nothing is terminated for them. Those
	// that Tencent Cloud reclaims disappear by themselves.
	total := t.total - v.unseen
	if surplus := total - len(v.interrupted) - d.Maximum; surplus > 0 {
		var now []Member
		chosen := spare(v, t, surplus)
		for _, m := range chosen {
			if m.endable() {
				now = append(now, m)
			}
		}
		later := reason.Count(len(chosen) - len(now))
		because, more := aboveMaximum(v, total), reason.MoreEndLater(later, reason.Count(d.Maximum))
		if v.drains() {
			because, more = v.drainReason, reason.MoreEndLaterDrained(later)
		}
		if t, r = terminate(v, t, now, false, because); later > 0 {
			r.Messages = append(r.Messages, more)
		}
		switch left := surplus - len(chosen); {
		case left > 0 && v.drains():
			r.warn(reason.CannotTerminateDrained(reason.Count(left)))
		case left > 0:
			r.warn(reason.CannotTerminate(reason.Count(left), reason.Count(d.Maximum)))
		}
	}
	missing := d.Minimum - t.coming
	if blocked := missing - max(0, d.Maximum-t.total); missing > 0 && blocked > 0 && v.mayLaunch() {
		isolated := choose(v, t, func(m Member) bool { return m.Condition == Isolated && m.expendable() })
		trimmed, more := terminate(v, t, pickTerminations(t, isolated, blocked), false, reason.Isolated())
		r.add(more)
		return trimmed, r
	}
	return t, r
}

// spare picks up to n members to terminate, now or once their state allows it. It keeps at
// least minimum that work, even if members that cannot be terminated fill the maximum. Those of
// on_demand_base are last.
func spare(v View, t Tally, n int) []Member {
	expendable := choose(v, t, func(m Member) bool { return m.counted() && m.expendable() })
	working := -v.Declaration.Minimum
	for _, m := range t.members {
		if m.works() {
			working++
		}
	}
	may, base := beyondBase(v, t, pickTerminations(t, expendable, len(expendable)))
	var chosen []Member
	for _, m := range append(may, base...) {
		if len(chosen) == n {
			break
		}
		if m.works() {
			if working <= 0 {
				continue
			}
			working--
		}
		chosen = append(chosen, m)
	}
	return chosen
}

// choose returns the members that match, can be terminated, and do not leave by this plan.
func choose(v View, t Tally, wanted func(Member) bool) []Member {
	var list []Member
	for _, m := range t.members {
		if wanted(m) && !t.leaving[m.ID] && !slices.Contains(v.SoFar.Refused, m.ID) {
			list = append(list, m)
		}
	}
	return list
}

// terminate terminates members, once their nodes are drained.
func terminate(v View, t Tally, list []Member, refresh bool, because reason.Reason) (Tally, Result) {
	now, drains, r := splitDrained(v, t, list, because)
	t = t.leave(now).leave(drains)
	t.draining = with(t.draining, drains)
	r.add(drain(v, drains, refresh, because))
	r.Decisions = append(r.Decisions, termination(v, now, refresh, because)...)
	return t, r
}

// termination returns the decision to terminate members now; none for an empty list.
func termination(v View, list []Member, refresh bool, because reason.Reason) []spotpool.Decision {
	if len(list) == 0 {
		return nil
	}
	about := make(reason.Some, len(list))
	for n, m := range list {
		about[n] = describe(m)
	}
	return []spotpool.Decision{{
		Kind: spotpool.KindTerminate, Object: v.Declaration.Object(), Count: len(list), InstanceIDs: ids(list), Refresh: refresh,
		Reasons: reason.Reasons{because, reason.Chosen(about)},
	}}
}

func describe(m Member) reason.Reason {
	facts := reason.Facts{reason.OfOffering(reason.Word(spotpool.ChargeName(m.ChargeType)), reason.Word(m.Market().String()))}
	if m.Ending {
		facts = append(facts, reason.EndRequested())
	}
	if m.Condition != Running {
		facts = append(facts, reason.InCondition(reason.Word(m.Condition)))
	}
	if m.Idle {
		facts = append(facts, reason.NoGPUPods())
	}
	if m.Drifted {
		facts = append(facts, reason.Drifted())
	}
	if m.Price > 0 {
		facts = append(facts, reason.Costs(m.Currency.Reason(m.Price)))
	}
	if !m.LaunchedAt.IsZero() {
		facts = append(facts, reason.LaunchedAt(reason.Instant{Time: m.LaunchedAt}))
	}
	return reason.ChosenInstance(reason.Word(m.ID), facts)
}

// pickTerminations picks n of a list to terminate, in this order:
//
//   - those whose termination was requested before
//   - those whose nodes are drained or draining
//   - those that do not work
//   - those known to have no pods with GPUs
//   - the drifted ones
//   - the most expensive
//   - those in the zone with the most instances
//   - the newest
//
// Contested ones are last: they are kept, and do not block others.
func pickTerminations(t Tally, list []Member, n int) []Member {
	n = min(n, len(list))
	rest := slices.Clone(list)
	slices.SortFunc(rest, func(a, b Member) int { return cmp.Or(rank(a, b), age(a, b)) })
	crowd := maps.Clone(t.byZone)
	order := make([]Member, 0, n)
	for len(order) < n {
		equals := 1
		for equals < len(rest) && rank(rest[0], rest[equals]) == 0 {
			equals++
		}
		order = append(order, pickFromLargestZone(rest[:equals], n-len(order), crowd)...)
		rest = rest[equals:]
	}
	return order
}

// rank orders members by everything but the instances of their zone and their age.
func rank(a, b Member) int {
	return cmp.Or(
		leaving(a, b),
		trueFirst(a.Idle, b.Idle),
		trueFirst(a.Drifted, b.Drifted),
		cmp.Compare(b.Price, a.Price))
}

// leaving sorts members first that leave already, or do not work.
func leaving(a, b Member) int {
	return cmp.Or(
		trueFirst(a.Ending, b.Ending),
		trueFirst(!a.contested(), !b.contested()),
		trueFirst(a.Drain.Open(), b.Drain.Open()),
		trueFirst(!a.capacity(), !b.capacity()))
}

// age sorts the newest first.
func age(a, b Member) int {
	return cmp.Or(b.LaunchedAt.Compare(a.LaunchedAt), cmp.Compare(a.ID, b.ID))
}

// pickFromLargestZone picks n of a list that is sorted by age, each time from the zone that has the
// most instances left.
func pickFromLargestZone(list []Member, n int, crowd map[string]int) []Member {
	var zones []string
	byZone := map[string][]Member{}
	for _, m := range list {
		if byZone[m.AvailabilityZone] == nil {
			zones = append(zones, m.AvailabilityZone)
		}
		byZone[m.AvailabilityZone] = append(byZone[m.AvailabilityZone], m)
	}
	var picked []Member
	for n = min(n, len(list)); len(picked) < n; {
		zone := slices.MinFunc(zones, func(a, b string) int {
			return cmp.Or(cmp.Compare(crowd[b], crowd[a]), age(byZone[a][0], byZone[b][0]))
		})
		picked = append(picked, byZone[zone][0])
		crowd[zone]--
		if byZone[zone] = byZone[zone][1:]; len(byZone[zone]) == 0 {
			zones = slices.DeleteFunc(zones, func(z string) bool { return z == zone })
		}
	}
	return picked
}
