package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// pool explains a pool.
func (p *page) pool(e spotpools.Description) {
	if e.Outcome == outcome.Failed {
		p.failure(e.Error)
	}
	if e.Counts == nil {
		return
	}
	p.say("capacity %d of minimum %d, total %d of maximum %d, %s", e.Capacity, e.Minimum, e.Total, e.Maximum, hourly(e.Cost()))
	switch {
	case e.Phase == declaration.Creating:
		p.Add(terminal.Yellow, "creating: ", "a run launches no instance for it")
	case e.Phase == declaration.Deleting:
		p.Deletion(e.Deletion)
	case e.Shortfall > 0 && !e.ShortSince.IsZero():
		p.Add(terminal.Yellow, "short: ", fmt.Sprintf("%d below its minimum, since %s", e.Shortfall, p.clock.When(e.ShortSince)))
	case e.Shortfall > 0:
		p.Add(terminal.Yellow, "short: ", fmt.Sprintf("%d below its minimum", e.Shortfall))
	}
	p.Failing(p.clock, e.Failing)
	p.PassedOver(p.clock, e.PassedOver)
	p.limits(e.Declared)
	if e.Phase == declaration.Active {
		p.gate(e.Gate)
	}
	p.nodes(e.Nodes)
	p.Add(terminal.Dim, "observed: ", p.Texts(e.Messages)...)
	for _, d := range e.Decisions {
		p.wouldDo(d, p.Texts(d.Reasons))
	}
	for _, why := range e.ShortReasons {
		unseen := why.Code == spotpool.BecauseCluster && e.Nodes != nil && !e.Nodes.Observed   // reported above
		if why.Offering == nil && !unseen && (e.Gate == nil || !why.Why.Same(e.Gate.Reason)) { // offerings have a table
			p.Add(terminal.Yellow, string(why.Code)+": ", why.Why.String())
		}
	}
	p.Open(e.Pending, e.Hold)
	p.Add(terminal.Yellow, "warning: ", p.Texts(e.Warnings)...)
	if e.Phase == declaration.Active {
		p.offerings(e.Offerings, heldBack(e.Report))
	}
	p.instances(e)
	p.health(e.Standings)
}

// hourly is the price of a pool.
func hourly(c spotpool.Cost) string {
	if c.Price == 0 {
		return "price unknown"
	}
	return c.Currency.Hourly(c.Price)
}

// heldBack is why a pool launches nothing in any offering; empty if it may launch.
func heldBack(report spotpools.Report) spotpool.Code {
	for _, r := range report.ShortReasons {
		if r.Code.HoldsBack() {
			return r.Code
		}
	}
	switch { // the pool is not short
	case report.Hold != nil:
		return spotpool.BecauseHold
	case report.Gate != nil && report.Gate.Closed:
		return spotpool.BecauseGate
	}
	return ""
}

// limits adds the limits of launches, and how offerings are chosen.
func (p *page) limits(d spotpools.Declared) {
	line := fmt.Sprintf("allocation strategy %s, at most %s a run", d.AllocationStrategy, describe.Plural(d.MaxLaunchesPerRun, "launch"))
	if d.MaxHourlyCost > 0 {
		line += fmt.Sprintf(", at most %s in total", d.Currency.Hourly(d.MaxHourlyCost))
	}
	if d.OnDemandBase > 0 {
		line += fmt.Sprintf(", %d of them on-demand", d.OnDemandBase)
	}
	p.say("%s", line)
	if f := d.OnDemandFallback; f != nil {
		p.say("on-demand fallback: at most %s after it was short for %s", describe.Plural(f.Maximum, "instance"), f.After)
	}
}

func (p *page) gate(g *spotpools.GateReport) {
	switch {
	case g == nil:
	case g.Closed:
		p.Add(terminal.Red, "launches blocked: ", g.Reason.String())
	default:
		p.say("launches allowed by budget/%s", g.Budget)
	}
}

// offerings adds a line for each offering and charge type.
func (p *page) offerings(list []decide.Appraisal, heldBack spotpool.Code) {
	prices := describe.PricesOf(list, decide.Appraisal.Cost)
	t := &terminal.Table{}
	t.Add("OFFERING", "ZONE", "CHARGE", prices.Title(), "MAX PRICE", "STOCK", "VCPUS", "QUOTA", "TOTAL", "VERDICT")
	for _, a := range list {
		paid, limit, quota, vCPUs, stock := spotpool.ChargeName(a.ChargeType), describe.Price(a.SpotMaxPrice), "-", "-", "-"
		if a.ChargeType == spotpool.OnDemand {
			limit = "-"
		}
		if a.SpotVCPUs != nil {
			quota = fmt.Sprint(*a.SpotVCPUs)
		}
		if a.VCPUs > 0 {
			vCPUs = fmt.Sprint(a.VCPUs)
		}
		if a.Stock != spotpool.StockUnknown {
			stock = string(a.Stock)
		}
		t.Add(a.InstanceType, a.AvailabilityZone, paid, prices.Cell(a.Cost()), limit, stock, vCPUs, quota, fmt.Sprint(a.Total), p.verdict(a, heldBack))
	}
	p.table(t, len(list), "VCPUS", "QUOTA", "TOTAL", "MAX PRICE", "STOCK")
}

// verdict is the decision about an offering.
func (p *page) verdict(a decide.Appraisal, heldBack spotpool.Code) string {
	switch {
	case a.Launches == 0 && heldBack != "":
		return p.Style.Paint(terminal.Yellow, string(heldBack))
	case a.Launches > 0:
		return p.Style.Paint(terminal.Cyan, fmt.Sprintf("launch %d", a.Launches))
	case a.Code != "":
		words := strings.ReplaceAll(string(a.Code), "_", " ") + ": "
		why := strings.Replace(strings.TrimPrefix(a.Why.String(), words), ", cooling down until", " until", 1)
		return p.Style.Paint(terminal.Yellow, string(a.Code)) + ": " + why
	case len(a.Cooldowns) > 0: // a cooldown does not exclude it
		c := a.Cooldowns[0]
		if c.Batch > 0 {
			return p.Style.Paint(terminal.Green, "may launch") + fmt.Sprintf(", at most %d at once: %s", c.Batch, c)
		}
		return p.Style.Paint(terminal.Green, "may launch") + " if no other can: " + c.String()
	}
	return p.Style.Paint(terminal.Green, "may launch")
}

// nodes adds the health of the nodes.
func (p *page) nodes(n *decide.PoolNodes) {
	switch {
	case n == nil:
	case n.NodeStates == nil:
		p.Add(terminal.Red, "nodes: ", "the cluster was not observed: health is unknown, and no instance is drained, replaced or terminated")
	default:
		p.say("nodes: %s", n)
	}
}

// health adds the health of each instance as a node.
func (p *page) health(list []decide.Standing) {
	if !slices.ContainsFunc(list, func(s decide.Standing) bool { return len(s.AsNode) > 0 }) {
		return
	}
	p.say("")
	p.say("%s", p.Style.Paint(terminal.Bold, "nodes"))
	for _, s := range list {
		if len(s.AsNode) > 0 {
			p.say("%s: %s", s.InstanceID, strings.Join(s.AsNode.Texts(), "; "))
		}
	}
}

// instances adds what each instance counts as.
func (p *page) instances(e spotpools.Description) {
	prices := describe.PricesOf(e.Machines, decide.Member.Cost)
	t := &terminal.Table{}
	add := func(charge string, cells ...string) {
		if e.Mixed {
			cells = slices.Insert(cells, 3, charge)
		}
		t.Add(cells...)
	}
	add("CHARGE", "INSTANCE", "TYPE", "ZONE", prices.Title(), "CONDITION", "COUNTS AS", "WHY")
	for n, s := range e.Standings {
		m := e.Machines[n]
		counts := "nothing"
		switch {
		case s.Capacity:
			counts = "capacity"
		case s.Counted:
			counts = "total"
		}
		add(spotpool.ChargeName(m.ChargeType), s.InstanceID, m.InstanceType, m.AvailabilityZone, prices.Cell(m.Cost()), string(m.Condition), counts,
			strings.Join(s.Why.Texts(), "; "))
	}
	p.table(t, len(e.Standings), prices.Title(), "TYPE", "ZONE", "CHARGE")
}
