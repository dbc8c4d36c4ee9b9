package spotpool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// trim ends what the pool holds above its maximum. It also ends isolated instances
// where that makes room for a replacement: the cloud destroys them anyway.
func (p *planner) trim() {
	d := p.Declaration
	// Instances that were not found yet may not exist: nothing is ended for them. What the
	// cloud takes back goes by itself.
	held := p.plan.Held - p.unseen
	if surplus := held - len(p.doomed()) - d.Maximum; surplus > 0 {
		var now []Member
		chosen := p.surplus(surplus)
		for _, m := range chosen {
			if m.endable() {
				now = append(now, m)
			}
		}
		reason, above, remedy := fmt.Sprintf("%d held is above maximum %d", held, d.Maximum), fmt.Sprintf("above maximum %d", d.Maximum),
			"Lift the protection, or raise maximum"
		if p.emptied != "" {
			reason, above, remedy = p.emptied, "of a pool that is drained", "Lift the protection to have them end"
		}
		p.terminate(now, false, reason)
		if later := len(chosen) - len(now); later > 0 {
			p.plan.Notices = append(p.plan.Notices, fmt.Sprintf("%d more %s can be ended once no longer starting or stopping", later, above))
		}
		if left := surplus - len(chosen); left > 0 {
			p.warnf("%d held %s can't be ended: protected, refused by the cloud, starting for too long, or in a state that is left alone. %s", left, above,
				remedy)
		}
	}
	missing := d.Minimum - p.coming
	if blocked := missing - max(0, d.Maximum-p.plan.Held); missing > 0 && blocked > 0 && p.mayLaunch() {
		isolated := p.choose(func(m Member) bool { return m.Condition == Isolated && m.expendable() })
		p.terminate(p.firstToEnd(isolated, blocked), false, "isolated by the cloud, and in the way of a replacement")
	}
}

// surplus picks up to n members to be ended, now or once their state allows it. It
// leaves at least minimum that work: where useless members that can't be ended fill
// the maximum, ending the working ones would leave a pool that does nothing.
func (p *planner) surplus(n int) []Member {
	expendable := p.choose(func(m Member) bool { return m.held() && m.expendable() })
	spare := -p.Declaration.Minimum
	for _, m := range p.plan.Members {
		if m.works() {
			spare++
		}
	}
	var chosen []Member
	for _, m := range p.firstToEnd(expendable, len(expendable)) {
		if len(chosen) == n {
			break
		}
		if m.works() {
			if spare <= 0 {
				continue
			}
			spare--
		}
		chosen = append(chosen, m)
	}
	return chosen
}

// choose lists the members that are wanted, may be ended, and do not end by this plan
// already.
func (p *planner) choose(wanted func(Member) bool) []Member {
	return slices.DeleteFunc(slices.Clone(p.plan.Members), func(m Member) bool {
		return p.ending[m.ID] || slices.Contains(p.SoFar.Refused, m.ID) || !wanted(m)
	})
}

// terminate decides the end of the members, once their nodes are drained.
func (p *planner) terminate(list []Member, refresh bool, reason string) {
	list, going := p.drained(list, refresh, reason)
	p.leave(going)
	p.end(list, refresh, reason)
}

// end decides the end of the members now.
func (p *planner) end(list []Member, refresh bool, reason string) {
	if len(list) == 0 {
		return
	}
	decision := Decision{Kind: KindTerminate, Object: p.Declaration.Object(), Count: len(list), Refresh: refresh}
	about := make([]string, len(list))
	for n, m := range list {
		decision.InstanceIDs = append(decision.InstanceIDs, m.ID)
		about[n] = describe(m)
	}
	decision.Reasons = []string{reason, "chosen: " + wording.Some(about)}
	p.plan.Decisions = append(p.plan.Decisions, decision)
}

// leave counts members as on their way out.
func (p *planner) leave(list []Member) {
	for _, m := range list {
		p.ending[m.ID] = true
		p.byCharge[m.ChargeType]--
		p.byZone[m.AvailabilityZone]--
		if m.capacity() {
			p.coming--
		}
		if m.runs() {
			p.running--
		}
		if m.Available {
			p.available--
		}
	}
}

// describe says why an instance was chosen.
func describe(m Member) string {
	facts := []string{kindOf(m.ChargeType) + " " + m.Market().String()}
	if m.Ending {
		facts = append(facts, "its end was asked for before")
	}
	if m.Condition != Running {
		facts = append(facts, string(m.Condition))
	}
	if m.Idle {
		facts = append(facts, "no GPU pods")
	}
	if m.Outdated {
		facts = append(facts, "outdated")
	}
	if m.Price > 0 {
		facts = append(facts, m.Price.String()+" CNY an hour")
	}
	if !m.LaunchedAt.IsZero() {
		facts = append(facts, "launched "+instant(m.LaunchedAt))
	}
	return fmt.Sprintf("%s (%s)", m.ID, strings.Join(facts, ", "))
}

// firstToEnd picks n of a list to be ended, in this order: those whose end was asked for
// before, those whose nodes are drained already, those that do not work, those known to
// have no pods with GPUs, the outdated ones, the dearest, those in the zone with the most
// instances, the newest. Contested ones are last: they are left alone, and keep no others
// from being ended.
func (p *planner) firstToEnd(list []Member, n int) []Member {
	n = min(n, len(list))
	rest := slices.Clone(list)
	slices.SortFunc(rest, func(a, b Member) int { return cmp.Or(rank(a, b), age(a, b)) })
	crowd := map[string]int{}
	for zone, held := range p.byZone {
		crowd[zone] = held
	}
	order := make([]Member, 0, n)
	for len(order) < n {
		equals := 1
		for equals < len(rest) && rank(rest[0], rest[equals]) == 0 {
			equals++
		}
		order = append(order, mostCrowded(rest[:equals], n-len(order), crowd)...)
		rest = rest[equals:]
	}
	return order
}

// rank orders members by everything but how many others their zone has.
func rank(a, b Member) int {
	return cmp.Or(
		leaving(a, b),
		trueFirst(a.Idle, b.Idle),
		trueFirst(a.Outdated, b.Outdated),
		cmp.Compare(b.Price, a.Price))
}

// leaving orders first what is on its way out already, and what does not work.
func leaving(a, b Member) int {
	return cmp.Or(
		trueFirst(a.Ending, b.Ending),
		trueFirst(!a.contested(), !b.contested()),
		trueFirst(a.Drain.Open(), b.Drain.Open()),
		trueFirst(!a.capacity(), !b.capacity()))
}

// age orders the newest first.
func age(a, b Member) int {
	return cmp.Or(b.LaunchedAt.Compare(a.LaunchedAt), cmp.Compare(a.ID, b.ID))
}

// mostCrowded picks n of a list that is sorted by age: each time the next from the
// zone that has the most instances left.
func mostCrowded(list []Member, n int, crowd map[string]int) []Member {
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
