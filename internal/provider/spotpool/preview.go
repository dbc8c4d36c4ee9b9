package spotpool

import (
	"fmt"
	"slices"
	"strings"
	"time"

	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
)

// preview is what a plan says about a pool.
type preview struct {
	actions  []string
	warnings []string
}

// previewCreate decides over an empty region with an unknown market. What a plan says
// must not move with the market, and there is no private state yet that could
// remember it. So it says how many instances the creation launches, but not where,
// and leaves prices, the cost cap, the fallback to on-demand instances and the budget
// to the apply.
func previewCreate(d core.Declaration) preview {
	d.MaxHourlyCost, d.OnDemandFallback = 0, nil
	plan := decide.Decide(decide.Situation{
		Declaration: d, Observation: core.Observation{Region: d.Region}, Now: time.Unix(0, 0),
	})
	p := previewOf(plan, d.Budget)
	p.actions = launchesAnywhere(plan.Decisions, d.Budget)
	return p
}

// launchesAnywhere describes launches without their offerings: how many there are of
// each kind, and why.
func launchesAnywhere(decisions []core.Decision, budget string) []string {
	counts, reasons := map[core.ChargeType]int{}, map[core.ChargeType]string{}
	var order []core.ChargeType
	for _, decision := range decisions {
		if counts[decision.ChargeType] == 0 {
			order = append(order, decision.ChargeType)
			reasons[decision.ChargeType] = strings.Join(decision.Reasons, "; ")
		}
		counts[decision.ChargeType] += decision.Count
	}
	actions := make([]string, len(order))
	for n, charge := range order {
		kind := "spot"
		if charge == core.OnDemand {
			kind = "on-demand"
		}
		what := strings.Replace(instances(counts[charge]), " ", " "+kind+" ", 1)
		actions[n] = fmt.Sprintf("launch %s: %s; the offering is chosen at apply", what, reasons[charge])
		if budget != "" {
			actions[n] += ifAllowed(budget)
		}
	}
	return actions
}

// endsAndLaunchesAnywhere describes decisions, launches without their offerings.
func endsAndLaunchesAnywhere(decisions []core.Decision, budget string) []string {
	var actions []string
	var anywhere []core.Decision
	for _, decision := range decisions {
		if decision.Kind == core.KindLaunch && !decision.Resume {
			decision.Reasons = decision.Reasons[:1] // the others are about the offering
			anywhere = append(anywhere, decision)
			continue
		}
		actions = append(actions, decision.String())
	}
	return append(actions, launchesAnywhere(anywhere, budget)...)
}

// ifAllowed is added to launches that depend on a budget which was not looked at.
func ifAllowed(budget string) string {
	return fmt.Sprintf("; if its budget %s allows it then", budget)
}

// previewUpdate decides what an update of prior to d does, over what was last seen
// alone.
func previewUpdate(prior, d core.Declaration, s *privateState) preview {
	o := s.observation(d.Region, d.AccountID)
	journal := s.Journal
	var recording []string
	if !s.Recorded {
		recording = []string{"record the pool in the store"}
		journal = journal.Accepting(configurationTags(d, o)).Salted("made by the apply")
	}
	if prior.Nodes == nil {
		d.Nodes = nil // no node was seen: what ends is shown as an end, and is drained first
	}
	added := unseenOffers(prior, d)
	if o.Offers != nil && len(added) > 0 {
		// New offerings were not looked at. Whether their price fits the cost cap is
		// left to the apply.
		o.Offers = append(slices.Clone(o.Offers), added...)
		d.MaxHourlyCost = 0
	}
	gate, unlooked := s.Gate, ""
	if d.Budget != prior.Budget {
		gate, unlooked = core.Gate{}, d.Budget
	}
	plan := decide.Decide(decide.Situation{Declaration: d, Observation: o, OtherNodes: s.OtherNodes, Journal: journal, Now: s.At, Gate: gate, Hold: s.Hold})
	plan.Decisions = onInstances(plan.Decisions)
	p := previewOf(plan, unlooked)
	if len(added) > 0 { // where a launch goes is unknown until they are looked at
		p.actions = endsAndLaunchesAnywhere(plan.Decisions, unlooked)
	}
	p.actions = append(recording, p.actions...)
	return p
}

func configurationTags(d core.Declaration, o core.Observation) []string {
	var tags []string
	for _, i := range fleet.Tagged(d, o) {
		tags = append(tags, i.ConfigurationTag)
	}
	return tags
}

// unseenOffers are stand-ins for the offers of offerings that prior does not have.
func unseenOffers(prior, d core.Declaration) []core.Offer {
	seen := map[core.Market]bool{}
	for _, o := range prior.Offerings {
		seen[o.Market(core.Spot)] = true
	}
	var offers []core.Offer
	for _, o := range d.Offerings {
		if seen[o.Market(core.Spot)] {
			continue
		}
		for _, charge := range []core.ChargeType{core.Spot, core.OnDemand} {
			offers = append(offers, core.Offer{Market: o.Market(charge)})
		}
	}
	return offers
}

// onInstances leaves out what only makes nodes usable again, or deletes those of
// instances that are gone, or ends tokens: it changes nothing of the pool.
func onInstances(decisions []core.Decision) []core.Decision {
	return slices.DeleteFunc(decisions, func(d core.Decision) bool {
		return d.Kind == core.KindUncordon || d.Kind == core.KindDeleteNode || d.Kind == core.KindEndToken
	})
}

// previewOf describes a plan. Its launches depend on the budget unlooked, whose
// status was not looked at, if that is named.
func previewOf(plan decide.Plan, unlooked string) preview {
	p := preview{actions: make([]string, len(plan.Decisions)), warnings: slices.Clone(plan.Warnings)}
	launches := 0
	for n, decision := range plan.Decisions {
		p.actions[n] = decision.String()
		if decision.Kind == core.KindLaunch && unlooked != "" {
			p.actions[n] += ifAllowed(unlooked)
		}
		if decision.Kind == core.KindLaunch && !decision.Refresh {
			launches += decision.Count
		}
	}
	for _, why := range plan.Short {
		if why.Code == core.BecauseSurplus {
			p.warnings = append(p.warnings, why.String())
		}
	}
	if plan.Refusal != "" {
		p.warnings = append(p.warnings, plan.Refusal)
	}
	if missing := plan.Shortfall - launches; missing > 0 {
		p.warnings = append(p.warnings, shortfall(plan, launches))
	}
	return p
}

// shortfall says why the pool stays below its minimum.
func shortfall(plan decide.Plan, launches int) string {
	text := fmt.Sprintf("Its capacity is %d and its minimum %d, and nothing can be launched now:", plan.Capacity, plan.Minimum)
	if launches > 0 {
		text = fmt.Sprintf("Its capacity is %d and its minimum %d, and only %d can be launched now:", plan.Capacity, plan.Minimum, launches)
	}
	for _, why := range plan.Short.Brief() {
		text += "\n- " + why
	}
	return text + "\nThe next plan or gpupool reconcile looks again."
}
