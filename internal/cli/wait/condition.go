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
)

// condition is what is waited for: a capacity of pools, or that pools and budgets
// have recovered.
type condition struct {
	text      string
	capacity  int
	recovered bool
}

func parseCondition(text string) (condition, error) {
	c := condition{text: text, recovered: text == "recovered"}
	number, isCapacity := strings.CutPrefix(text, "capacity=")
	n, err := strconv.Atoi(number)
	if c.capacity = n; c.recovered || isCapacity && err == nil && n >= 0 {
		return c, nil
	}
	return c, fmt.Errorf("%q is nothing to wait for: write capacity=4, or recovered", text)
}

// Sources of what is known of an object.
const (
	fromCloud = "cloud" // looked at now
	fromStore = "store" // as the last run judged it
)

// result is how one pool or budget stands to the condition.
type result struct {
	Object  string     `json:"object"`
	Reached bool       `json:"reached"`
	Source  string     `json:"source"`
	AsOf    *time.Time `json:"as_of"` // null where nothing was seen
	// Missing says what is not so yet.
	Missing string `json:"missing,omitempty"`
	said    string // what is so
}

// judge is how everything that a status tells of stands to the condition. What was
// not seen has not come.
func (c condition) judge(report reconcile.StatusReport) ([]result, error) {
	var results []result
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
		if !c.recovered {
			return nil, fmt.Errorf("the budget %s has no capacity: a pool can be waited for with --for %s, and a budget with --for recovered", b.Name, c.text)
		}
		r := result{Object: "budget/" + b.Name, Source: fromStore}
		if b.UsageReport != nil && b.Outcome != outcome.Failed {
			r.AsOf = &b.AsOf
		}
		r.said, r.Missing = ofBudget(b)
		r.Reached = r.Missing == "" && r.AsOf != nil
		results = append(results, r)
	}
	return results, nil
}

// pool says how a pool stands, and what is missing.
func (c condition) pool(p spotpools.Overview) (said, missing string) {
	wanted := c.capacity
	if c.recovered {
		wanted = p.Minimum
	}
	said = fmt.Sprintf("capacity %d of %d", p.Capacity, wanted)
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
	if p.Gate != nil && p.Gate.Closed {
		missing += "; " + p.Gate.Reason
	} else if len(p.Short) > 0 {
		missing += "; " + p.Short[0]
	}
	return said, missing
}

// ofBudget says how a budget stands, and what is missing until it has recovered: it
// is below its limit by a judgement that is to be trusted, and nothing of what it
// enforced is in force.
func ofBudget(b budgets.Overview) (said, missing string) {
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
	case describe.Exceeded(b.Report):
		return said, "it is exceeded: " + said + recovery(b)
	case len(b.Enforced) > 0:
		return said, fmt.Sprintf("it is below its limit, and still in force is: %v", b.Enforced)
	}
	return said, ""
}

// recovery is when a budget falls below its limit by itself, where that is known.
func recovery(b budgets.Overview) string {
	switch at := b.RecoversAt; {
	case at == nil:
		return ""
	case b.WindowEnd.After(b.AsOf):
		return "; its period ends at " + at.UTC().Format(time.RFC3339)
	default:
		return "; it recovers by itself at " + at.UTC().Format(time.RFC3339) + " if nothing more is used"
	}
}
