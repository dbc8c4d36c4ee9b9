package spotpool

import (
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// topUp launches what is missing to the minimum: on-demand up to on_demand_base, then
// as declared, and on-demand again where spot has failed for long enough.
func (p *planner) topUp() {
	missing := p.Declaration.Minimum - p.coming
	if missing <= 0 {
		return
	}
	reason := p.whyBelow()
	if code, why := p.heldBack(); code != "" {
		p.short(code, "%s", why)
		return
	}
	if room := p.room(); room < missing {
		p.explainRoom(missing - room)
		missing = room
	}
	missing -= p.fill(missing, p.byCharge[OnDemand], false, reason)
	p.fallBack(missing, reason)
}

// heldBack says why nothing is launched now; empty where something may be.
func (p *planner) heldBack() (Code, string) {
	switch {
	case p.Gate.Closed && p.Gate.Undeclared:
		return BecauseGateUndeclared, p.Gate.Reason
	case p.Gate.Closed && p.Gate.Unknown:
		return BecauseGateUnknown, p.Gate.Reason
	case p.Gate.Closed:
		return BecauseGate, p.Gate.Reason
	case len(p.doubtful) > 0:
		return BecauseContradiction, p.contradicted()
	case !p.plan.Journal.LostAt.IsZero():
		return BecauseJournalLost, p.plan.Journal.WhyLost()
	case p.SoFar.Halted != "":
		return BecauseRefused, p.SoFar.Halted
	}
	return "", ""
}

// mayLaunch reports whether nothing holds launches back.
func (p *planner) mayLaunch() bool {
	code, _ := p.heldBack()
	return code == ""
}

// contradicted says which instances may be the pool's or not; empty where there are
// none.
func (p *planner) contradicted() string {
	if len(p.doubtful) == 0 {
		return ""
	}
	it := wording.Plural(len(p.doubtful), "it", "them")
	return fmt.Sprintf("%s %s this pool's uid, and what the cloud says of %s contradicts itself: nothing is launched beside %s. Look at %s in the console, "+
		"and take the tag gpupool/uid off what is not the pool's", wording.Some(p.doubtful), wording.Plural(len(p.doubtful), "carries", "carry"), it, it, it)
}

// fill decides launches of up to n instances: on-demand while onDemand of them
// are below the base, the rest as declared.
func (p *planner) fill(n, onDemand int, refresh bool, reason string) int {
	d := p.Declaration
	total := 0
	if base := min(n, d.OnDemandBase-onDemand); base > 0 && d.InstanceChargeType == Spot {
		total = p.launch(base, OnDemand, refresh, []string{reason, fmt.Sprintf("the on-demand base is %d", d.OnDemandBase)})
	}
	return total + p.launch(n-total, d.InstanceChargeType, refresh, []string{reason})
}

// fallBack launches on-demand instances in the place of n that no spot offering could
// give, once the pool has been short for long enough.
func (p *planner) fallBack(n int, reason string) {
	d := p.Declaration
	f := d.OnDemandFallback
	if f == nil || n <= 0 || d.InstanceChargeType != Spot {
		return
	}
	since := p.plan.Journal.ShortSince
	if since.IsZero() {
		since = p.Now // the pool is short only once this plan is carried out
	}
	if due := since.Add(time.Duration(f.After)); p.Now.Before(due) {
		p.short(BecauseFallbackLater, "on-demand instances take over at %s", instant(due))
		return
	}
	standIns := max(0, p.byCharge[OnDemand]-d.OnDemandBase)
	if standIns >= f.Maximum {
		p.short(BecauseFallbackMaximum, "on_demand_fallback allows %d on-demand instances in place of spot ones, and %d %s there", f.Maximum, standIns,
			isAre(standIns))
		return
	}
	p.launch(min(n, f.Maximum-standIns), OnDemand, false, []string{
		reason, fmt.Sprintf("no spot instance could be had since %s, for longer than %s", instant(since), f.After),
	})
}

// whyBelow says why the minimum is not reached.
func (p *planner) whyBelow() string {
	var but []string
	if doomed := p.doomed(); len(doomed) > 0 {
		but = append(but, "as "+taken(doomed))
	}
	if p.unseen > 0 {
		but = append(but, fmt.Sprintf("with %d more asked for", p.unseen))
	}
	if ending := p.plan.Capacity + p.unseen - p.coming; ending > 0 {
		but = append(but, fmt.Sprintf("less %d to be ended", ending))
	}
	if len(but) == 0 {
		return fmt.Sprintf("capacity %d is below minimum %d", p.plan.Capacity, p.Declaration.Minimum)
	}
	return fmt.Sprintf("capacity %d, %s, is below minimum %d", p.plan.Capacity, strings.Join(but, " and "), p.Declaration.Minimum)
}

// explainRoom says what keeps n instances from being launched.
func (p *planner) explainRoom(n int) {
	d := p.Declaration
	held := p.plan.Held + p.launched
	if d.Maximum-held > d.MaxLaunchesPerRun-p.SoFar.Launched-p.launched {
		p.short(BecausePerRunCap, "max_launches_per_run is %d: %d more to be launched by the next run", d.MaxLaunchesPerRun, n)
		return
	}
	text := fmt.Sprintf("%d held already, and maximum is %d: no room for %d more", held, d.Maximum, n)
	if stuck := p.stuck(); stuck >= n { // it is they that take the room
		p.short(BecauseLaunchTimeout, "%s, as %d %s been starting for longer than the launch timeout of %s", text, stuck, hasHave(stuck), d.LaunchTimeout)
		return
	}
	p.short(BecauseMaximum, "%s", text)
}

// stuck is how many instances have been starting for longer than the launch timeout.
func (p *planner) stuck() int {
	n := 0
	for _, m := range p.plan.Members {
		if m.Condition == Stuck {
			n++
		}
	}
	return n
}
