package spotpool

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// preview is what a plan shows of a pool.
type preview struct {
	actions  []string
	drains   int // among the actions
	warnings reason.Reasons
	short    reason.Reason // how far the pool is below its minimum, and why; zero if it is not
	cause    reason.Word   // of short
}

// waitForDrains adds the wait of an update for its drains.
func (p *preview) waitForDrains(timeout time.Duration) {
	if p.drains == 0 {
		return
	}
	p.actions = append(p.actions, fmt.Sprintf("wait up to %s for %d %s (timeouts.update); gpupool reconcile continues %s",
		core.Duration(timeout), p.drains, wording.Plural(p.drains, "drain", "drains"), wording.Plural(p.drains, "it", "them")))
}

// previewCreate decides for an empty region with an unknown market. Planned values must not
// change with the market, and there is no private state yet. So they say how many instances
// the creation launches, but not where. The apply handles prices, the cost cap, the on-demand
// fallback and the budget.
func previewCreate(d core.Declaration) preview {
	d.MaxHourlyCost, d.OnDemandFallback = 0, nil
	plan := decide.Decide(decide.Situation{
		Declaration: d, Observation: core.Observation{Region: d.Region}, Now: time.Unix(0, 0),
	})
	p := previewOf(plan, d.Budget)
	p.actions = launchCounts(plan.Decisions, d.Budget)
	return p
}

// launchCounts describes launches without their offerings: how many of each kind, and why.
func launchCounts(decisions []core.Decision, budget string) []string {
	counts, reasons := map[core.ChargeType]int{}, map[core.ChargeType]string{}
	var order []core.ChargeType
	for _, decision := range decisions {
		if counts[decision.ChargeType] == 0 {
			order = append(order, decision.ChargeType)
			reasons[decision.ChargeType] = strings.Join(decision.Reasons.Texts(), "; ")
		}
		counts[decision.ChargeType] += decision.Count
	}
	actions := make([]string, len(order))
	for n, charge := range order {
		kind := "spot"
		if charge == core.OnDemand {
			kind = "on-demand"
		}
		what := strings.Replace(wording.Count(counts[charge], "instance"), " ", " "+kind+" ", 1)
		actions[n] = fmt.Sprintf("launch %s: %s; the offering is chosen at apply", what, reasons[charge])
		if budget != "" {
			actions[n] += ifAllowed(budget)
		}
	}
	return actions
}

// withLaunchCounts describes decisions, launches without their offerings.
func withLaunchCounts(decisions []core.Decision, budget string) []string {
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
	return append(actions, launchCounts(anywhere, budget)...)
}

// ifAllowed is added to launches that depend on a budget whose status was not observed.
func ifAllowed(budget string) string {
	return fmt.Sprintf("; if its budget %s allows it then", budget)
}

// previewUpdate decides what an update of prior to d does, from only the last observation.
func previewUpdate(prior, d core.Declaration, s *privateState) preview {
	o := s.observation(d.Region, d.AccountID)
	journal := s.Journal
	var recording []string
	if !s.Recorded {
		recording = []string{"record the pool in the store"}
		journal = journal.Accepting(configurationTags(d, o)).Salted("made by the apply")
	}
	if prior.Nodes == nil {
		d.Nodes = nil // no node was observed: terminations are shown without their drains
	}
	added := placeholderOffers(prior, d)
	if o.Offers != nil && len(added) > 0 {
		// New offerings were not observed. The apply checks their price against the cost cap.
		o.Offers = append(slices.Clone(o.Offers), added...)
		d.MaxHourlyCost = 0
	}
	gate, unobserved := s.Gate, ""
	if d.Budget != prior.Budget {
		gate, unobserved = core.Gate{}, d.Budget
	}
	plan := decide.Decide(decide.Situation{Declaration: d, Observation: o, OtherNodes: s.OtherNodes, Journal: journal, Now: s.At, Gate: gate, Hold: s.Hold})
	plan.Decisions = instanceDecisions(plan.Decisions)
	p := previewOf(plan, unobserved)
	if len(added) > 0 { // where a launch goes is unknown until they are observed
		p.actions = withLaunchCounts(plan.Decisions, unobserved)
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

// placeholderOffers returns offers of unknown price for the offerings that prior lacks.
func placeholderOffers(prior, d core.Declaration) []core.Offer {
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

// instanceDecisions leaves out decisions that uncordon nodes, delete Nodes of former instances
// or delete tokens: they do not change the pool.
func instanceDecisions(decisions []core.Decision) []core.Decision {
	return slices.DeleteFunc(decisions, func(d core.Decision) bool {
		return d.Kind == core.KindUncordon || d.Kind == core.KindDeleteNode || d.Kind == core.KindEndToken
	})
}

// previewOf describes a plan. Its launches depend on the budget unobserved, whose status was
// not observed, if there is one.
func previewOf(plan decide.Plan, unobserved string) preview {
	p := preview{actions: make([]string, len(plan.Decisions)), warnings: slices.Clone(plan.Warnings)}
	launches := 0
	for n, decision := range plan.Decisions {
		p.actions[n] = decision.String()
		if decision.Kind == core.KindDrain {
			p.drains++
		}
		if decision.Kind == core.KindLaunch && !decision.Resume && unobserved != "" {
			p.actions[n] += ifAllowed(unobserved)
		}
		if decision.Kind == core.KindLaunch && !decision.Refresh {
			launches += decision.Count
		}
	}
	for _, why := range plan.Short {
		if why.Code == core.BecauseSurplus {
			p.warnings = append(p.warnings, why.Sentence())
		}
	}
	if !plan.Refusal.IsZero() {
		p.warnings = append(p.warnings, plan.Refusal)
	}
	if missing := plan.Shortfall - launches; missing > 0 {
		p.short, p.cause = shortfall(plan, launches), plan.Short.Cause()
	}
	return p
}

// shortfall says why the pool stays below its minimum.
func shortfall(plan decide.Plan, launches int) reason.Reason {
	capacity, minimum, why := reason.Count(plan.Capacity), reason.Count(plan.Minimum), reason.Lines(plan.Short.Brief())
	if launches > 0 {
		return reason.ShorterInPlan(capacity, minimum, reason.Count(launches), why)
	}
	return reason.ShortInPlan(capacity, minimum, why)
}
