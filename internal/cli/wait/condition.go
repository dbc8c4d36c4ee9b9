package wait

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// condition is what is waited for: a capacity of pools, that so many pods of stock pools
// are available, or all that are declared, or that all of them and budgets have recovered.
type condition struct {
	text      string
	number    int // of capacity and available
	capacity  bool
	available bool
	ready     bool
	recovered bool
}

func parseCondition(text string) (condition, error) {
	name, number, numbered := strings.Cut(text, "=")
	c := condition{text: text, capacity: name == "capacity", available: name == "available", ready: text == "ready", recovered: text == "recovered"}
	n, err := strconv.Atoi(number)
	switch c.number = n; {
	case c.ready, c.recovered, (c.capacity || c.available) && numbered && err == nil && n >= 0:
		return c, nil
	}
	return c, fmt.Errorf("%q is nothing to wait for: write capacity=4, available=2, ready, or recovered", text)
}

// refusal says that a kind has nothing of what is waited for; nil where it has.
func (c condition) refusal(s outcome.Summary) error {
	can := map[string]string{"spot_pool": "capacity=N or recovered", "budget": "recovered", "stock_pool": "available=N, ready or recovered"}
	has := c.recovered || s.Kind == "spot_pool" && c.capacity || s.Kind == "stock_pool" && (c.ready || c.available)
	if has {
		return nil
	}
	return fmt.Errorf("--for %s is not for %s: wait for it by --for %s", c.text, describe.Declaration(s), can[s.Kind])
}

// Sources of what is known of an object.
const (
	fromCloud   = "cloud"   // looked at now
	fromCluster = "cluster" // looked at now
	fromStore   = "store"   // as the last run judged it
)

// result is how one pool, budget or stock pool stands to the condition.
type result struct {
	// The pool, stock pool or budget.
	Object string `json:"object"`
	// Whether the condition is met.
	Reached bool `json:"reached"`
	// How it was observed: `cloud`, `cluster`, or `store` for the last run.
	Source string `json:"source"`
	// When it was observed. Null if it was not.
	AsOf *time.Time `json:"as_of"`
	// The part that is missing.
	Missing string `json:"missing,omitempty"`
	said    string // what is so
}

// judge is how everything that a status tells of stands to the condition. What was
// not seen has not come.
func (c condition) judge(report reconcile.StatusReport) ([]result, error) {
	var results []result
	for _, s := range report.Declarations() {
		if err := c.refusal(s); err != nil {
			return nil, err
		}
	}
	for _, p := range report.SpotPools {
		r := result{Object: "spot_pool/" + describe.PoolName(p.Report), Source: fromCloud}
		if p.Observed && p.Outcome != outcome.Failed {
			r.AsOf = &report.At
		}
		r.said, r.Missing = c.pool(p)
		r.Reached = r.Missing == "" && r.AsOf != nil
		results = append(results, r)
	}
	for _, b := range report.Budgets {
		r := result{Object: "budget/" + b.Name, Source: fromStore}
		if b.UsageReport != nil && b.Outcome != outcome.Failed {
			r.AsOf = &b.AsOf
		}
		r.said, r.Missing = ofBudget(b)
		r.Reached = r.Missing == "" && r.AsOf != nil
		results = append(results, r)
	}
	for _, p := range report.StockPools {
		r := result{Object: p.Summary().Object(), Source: fromCluster}
		if p.Observed && p.Outcome != outcome.Failed {
			r.AsOf = &report.At
		}
		r.said, r.Missing = c.stockPool(p)
		r.Reached = r.Missing == "" && r.AsOf != nil
		results = append(results, r)
	}
	return results, nil
}

// pool says how a pool stands, and what is missing.
func (c condition) pool(p spotpools.Description) (said, missing string) {
	wanted, drained := c.number, ""
	if p.Wanted != nil {
		drained = "; its exceeded budget drains it, and wants " + describe.Plural(*p.Wanted, "instance") + " of it"
	}
	if c.recovered {
		wanted = p.Minimum
		if p.Wanted != nil {
			wanted = *p.Wanted
		}
	}
	said = fmt.Sprintf("capacity %d of %d", p.Capacity, wanted) + drained
	switch {
	case p.Error != nil:
		return said, "it can't be seen: " + p.Error.Message
	case !p.Observed:
		return said, "it was not seen"
	case p.Phase == declaration.Deleting:
		return said, "it is being destroyed"
	case c.recovered && p.Phase != declaration.Active:
		return said, "its creation is not finished"
	case p.Capacity >= wanted:
		return said, ""
	}
	missing = said
	switch {
	case p.Gate != nil && p.Gate.Closed:
		missing += "; " + p.Gate.Reason
	case len(p.Short) > 0:
		missing += "; " + p.Short[0]
	}
	return said, missing
}

// stockPool says how a stock pool stands, and what is missing.
func (c condition) stockPool(p stockpools.Description) (said, missing string) {
	said = fmt.Sprintf("%s, %d available and %d in use of %d", p.Phase, p.Available, p.Allocated, p.Desired)
	if c.available {
		said = fmt.Sprintf("%d of %d available", p.Available, c.number)
	}
	switch {
	case p.Error != nil:
		return said, "it can't be told: " + p.Error.Message
	case !p.Observed:
		return said, "it was not seen"
	case p.RecordPhase == declaration.Deleting:
		return said, "it is being destroyed"
	case c.available && p.Available >= c.number, !c.available && p.RecordPhase == declaration.Active && p.Phase == decide.Ready:
		return said, ""
	}
	missing = said
	for _, d := range p.Decisions {
		missing += "; a run would " + d.Summary()
	}
	for _, of := range p.Conditions {
		if of.Status != "True" && of.Message != "" && of.Type != decide.Synced {
			missing += "; " + strings.ReplaceAll(of.Message, "\n", "; ")
		}
	}
	return said, missing
}

// ofBudget says how a budget stands, and what is missing until it has recovered: it
// is below its limit by a judgement that is to be trusted, and nothing of what it
// enforced is in force.
func ofBudget(b budgets.Description) (said, missing string) {
	switch {
	case b.Error != nil:
		return "", "it can't be told: " + b.Error.Message
	case b.Phase == declaration.Deleting:
		return "", "it is being destroyed"
	case b.UsageReport == nil:
		return "", "no run of gpupool reconcile has judged it yet"
	case b.LastRunError != "":
		return "", "the last run could not judge or enforce it: " + b.LastRunError
	case b.Untrusted != "":
		return "", b.Untrusted
	}
	used := b.ConsumedGPUHours
	if limit := b.UsageReport.LimitGPUHours; limit != nil {
		used += " of " + *limit
	}
	said = used + " GPU-hours are used"
	switch {
	case b.IsExceeded():
		return said, "it is exceeded: " + said + recovery(b)
	case len(b.Effects) > 0:
		return said, fmt.Sprintf("it is below its limit, and not done is: %v", b.Effects)
	case len(b.Enforced) > 0:
		return said, fmt.Sprintf("it is below its limit, and still in force is: %v", b.Enforced)
	}
	return said, ""
}

// recovery is when a budget falls below its limit by itself, where that is known.
func recovery(b budgets.Description) string {
	switch at := b.RecoversAt; {
	case at == nil:
		return ""
	case b.WindowEnd.After(b.AsOf):
		return "; its period ends at " + at.UTC().Format(time.RFC3339)
	default:
		return "; it recovers by itself at " + at.UTC().Format(time.RFC3339) + " if nothing more is used"
	}
}
