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

// condition is a condition of --for. Pools can have a capacity, and stock pools a number of
// available pods or all of them. Objects of any kind can have recovered.
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
	return c, fmt.Errorf("invalid condition %q: use capacity=4, available=2, ready or recovered", text)
}

// refusal is an error if a kind does not have the condition.
func (c condition) refusal(s outcome.Summary) error {
	can := map[string]string{"spot_pool": "capacity=N, recovered", "budget": "recovered", "stock_pool": "available=N, ready, recovered"}
	has := c.recovered || s.Kind == "spot_pool" && c.capacity || s.Kind == "stock_pool" && (c.ready || c.available)
	if has {
		return nil
	}
	return fmt.Errorf("--for %s does not apply to %s: use %s", c.text, describe.Declaration(s), can[s.Kind])
}

// Sources of an observation.
const (
	fromCloud   = "cloud"   // observed now
	fromCluster = "cluster" // observed now
	fromStore   = "store"   // as of the last run
)

// result is the condition of one object.
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
	said    string // the current state
}

// judge checks the condition of each object. An object that was not observed does not
// meet it.
func (c condition) judge(report reconcile.StatusReport) ([]result, error) {
	var results []result
	for _, s := range report.Declarations() {
		if err := c.refusal(s); err != nil {
			return nil, err
		}
	}
	for _, p := range report.SpotPools {
		r := result{Object: "spot_pool/" + describe.PoolName(p.Report), Source: fromCloud}
		if p.Counts != nil && p.Outcome != outcome.Failed {
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
		r.said, r.Missing = budgetState(b)
		r.Reached = r.Missing == "" && r.AsOf != nil
		results = append(results, r)
	}
	for _, p := range report.StockPools {
		r := result{Object: p.Summary().Object(), Source: fromCluster}
		if p.Status != nil && p.Outcome != outcome.Failed {
			r.AsOf = &report.At
		}
		r.said, r.Missing = c.stockPool(p)
		r.Reached = r.Missing == "" && r.AsOf != nil
		results = append(results, r)
	}
	return results, nil
}

// unobserved is why an object cannot meet a condition now; empty if it was observed without an error.
func unobserved(absent bool, err *outcome.ErrorReport) string {
	switch {
	case err != nil:
		return "not observed: " + err.Message
	case absent:
		return "not observed"
	}
	return ""
}

// pool is the state of a pool, and why it does not meet the condition.
func (c condition) pool(p spotpools.Description) (said, missing string) {
	if missing := unobserved(p.Counts == nil, p.Error); missing != "" {
		return "", missing
	}
	wanted, drained := c.number, ""
	if p.Wanted != nil {
		drained = "; its exceeded budget drains it to " + describe.Plural(*p.Wanted, "instance")
	}
	if c.recovered {
		wanted = p.Minimum
		if p.Wanted != nil {
			wanted = *p.Wanted
		}
	}
	said = fmt.Sprintf("capacity %d of %d", p.Capacity, wanted) + drained
	switch {
	case p.Phase == declaration.Deleting:
		return said, "deletion in progress"
	case c.recovered && p.Phase != declaration.Active:
		return said, "creation in progress"
	case p.Capacity >= wanted:
		return said, ""
	}
	missing = said
	switch {
	case p.Gate != nil && p.Gate.Closed:
		missing += "; " + p.Gate.Reason.String()
	case len(p.Short) > 0:
		missing += "; " + p.Short[0]
	}
	return said, missing
}

// stockPool is the state of a stock pool, and why it does not meet the condition.
func (c condition) stockPool(p stockpools.Description) (said, missing string) {
	if missing := unobserved(p.Status == nil, p.Error); missing != "" {
		return "", missing
	}
	said = fmt.Sprintf("%s, %d available and %d in use of %d", p.Phase, p.Available, p.Allocated, p.Desired)
	if c.available {
		said = fmt.Sprintf("%d of %d available", p.Available, c.number)
	}
	switch {
	case p.RecordPhase == declaration.Deleting:
		return said, "deletion in progress"
	case c.available && p.Available >= c.number, !c.available && p.RecordPhase == declaration.Active && p.Phase == decide.Ready:
		return said, ""
	}
	missing = said
	for _, d := range p.Decisions {
		missing += "; a run would " + d.Summary()
	}
	for _, of := range p.Conditions {
		if text := of.Text(); of.Status != "True" && text != "" && of.Type != decide.Synced {
			missing += "; " + strings.ReplaceAll(text, "\n", "; ")
		}
	}
	return said, missing
}

// budgetState is the state of a budget, and why it has not recovered. It has recovered if a
// fresh status is below the limit and no enforcement is in effect.
func budgetState(b budgets.Description) (said, missing string) {
	switch {
	case b.Error != nil:
		return "", "unknown: " + b.Error.Message
	case b.Phase == declaration.Deleting:
		return "", "deletion in progress"
	case b.UsageReport == nil:
		return "", "no reconcile run has measured it yet"
	case b.Failing != nil:
		return "", "the last run failed: " + b.Failing.Error.Message
	case !b.Untrusted.IsZero():
		return "", b.Untrusted.String()
	}
	used := b.ConsumedGPUHours
	if limit := b.UsageReport.LimitGPUHours; limit != nil {
		used += " of " + *limit
	}
	said = used + " GPU-hours used"
	switch {
	case b.IsExceeded():
		return said, "exceeded: " + said + recovery(b)
	case len(b.Effects) > 0:
		return said, fmt.Sprintf("below its limit, but not completed: %v", b.Effects)
	case len(b.Enforced) > 0:
		return said, fmt.Sprintf("below its limit, but still in effect: %v", b.Enforced)
	}
	return said, ""
}

// recovery is when a budget falls below its limit, if known.
func recovery(b budgets.Description) string {
	switch at := b.RecoversAt; {
	case at == nil:
		return ""
	case b.WindowEnd.After(b.AsOf):
		return "; its period ends at " + at.UTC().Format(time.RFC3339)
	default:
		return "; it recovers at " + at.UTC().Format(time.RFC3339) + " without further usage"
	}
}
