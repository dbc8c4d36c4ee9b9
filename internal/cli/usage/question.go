package usage

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
)

// question has the pods to count, their weights, the time and the limit.
type question struct {
	at, read time.Time // as of when, and the latest time at which the pods were read
	begin    time.Time // of the window
	// declared has the window and count_from; the rest is unused.
	declared budget.Declaration
	limit    int64 // milli-GPU-seconds; 0 for none
	rules    gpu.Rules
	weights  *gpu.Table // of the rules
	covers   func(namespace string, podLabels map[string]string) bool
	listing  usage.Listing
	clock    terminal.Clock
}

// groupLabel is the label that the grouping needs.
func (q question) groupLabel(labels map[string]string) map[string]string {
	label := q.listing.Label
	if q.listing.By == usage.ByOwner {
		label = usage.HashLabel
	}
	value, there := labels[label]
	if !there {
		return nil
	}
	return map[string]string{label: value}
}

// question parses the flags that are common to both sources, clusters and lists.
func (o *options) question() (q question, err error) {
	now := o.session.Now().UTC()
	q = question{at: now, read: now}
	over, err := o.windowAndLimit()
	if err != nil {
		return q, err
	}
	q.declared = budget.Declaration{Name: "usage", Window: over.Window, Period: over.Period, TimeZone: over.TimeZone, CountFrom: budget.CountFrom(o.countFrom)}
	if q.declared.Period == "" {
		q.declared.Window = o.window
	}
	q.clock = o.clock(q.declared)
	if q.limit, err = o.limit(); err != nil {
		return q, err
	}
	if q.listing, err = o.listing(); err != nil {
		return q, err
	}
	if q.rules, err = parseWeights(o.weights); err != nil {
		return q, fmt.Errorf("--weight: %w", err)
	}
	if q.weights, err = q.rules.Table(); err != nil {
		return q, fmt.Errorf("--weight: %w", err)
	}
	q.covers, err = o.coverage()
	return q, err
}

// windowAndLimit returns the window and the limit of the flags.
func (o *options) windowAndLimit() (budgets.Over, error) {
	over := budgets.Over{Period: budget.Period(o.period), TimeZone: o.timeZone}
	if _, err := budget.ParseWindow(o.window); err != nil {
		return over, fmt.Errorf("--window: %w", err)
	}
	if o.given("window") {
		over.Window = o.window
	}
	if _, err := budget.ParseZone(o.timeZone, time.LoadLocation); err != nil {
		return over, fmt.Errorf("--time-zone: %w", err)
	}
	if o.given("time-zone") && o.timeZone == "" {
		return over, errors.New("--time-zone is empty: use an IANA name such as Europe/Berlin")
	}
	_, err := o.limit()
	if err == nil {
		over.GPUHours = o.gpuHours
	}
	return over, err
}

// limit is --gpu-hours; 0 is none.
func (o *options) limit() (int64, error) {
	if !o.given("gpu-hours") {
		return 0, nil
	}
	limit, err := budget.ParseHours(o.gpuHours)
	if err != nil {
		return 0, fmt.Errorf("--gpu-hours: %w", err)
	}
	return limit, nil
}

// moment is --at; zero is now.
func (o *options) moment() (time.Time, error) {
	if !o.given("at") {
		return time.Time{}, nil
	}
	return parseMoment(o.at)
}

// offlineQuestion parses the flags of usage without a cluster.
func (o *options) offlineQuestion() (question, error) {
	switch {
	case o.pods == "":
		return question{}, errors.New("--pods is empty: use a file, or - for standard input")
	case o.pods == "-" && o.nodes == "-":
		return question{}, errors.New("only one of --pods and --nodes can be standard input")
	case o.given("nodes") && o.nodes == "":
		return question{}, errors.New("--nodes is empty: use a file")
	}
	at, err := o.moment()
	if err != nil {
		return question{}, err
	}
	q, err := o.question()
	if err != nil {
		return q, err
	}
	if o.exitCode && q.limit == 0 {
		return q, errNoLimit
	}
	if !at.IsZero() {
		q.at = at
		q.read = at.Add(budget.LongestWindow) // the result must not depend on the current time
	}
	w, err := q.declared.WindowAt(q.at, time.LoadLocation)
	q.begin = w.Start
	return q, err
}

var errNoLimit = errors.New("--exit-code needs a limit: add --gpu-hours")

// parseMoment parses --at. Distant years are typing errors.
func parseMoment(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("--at: invalid time %q: use RFC 3339, such as 2026-11-02T12:00:00Z", text)
	}
	if at.Year() < 2000 || at.Year() > 2999 {
		return at, fmt.Errorf("--at: %q is out of range", text)
	}
	return at.UTC(), nil
}

// parseWeights parses --weight.
func parseWeights(assignments []string) (gpu.Rules, error) {
	rules := gpu.Rules{Weights: map[string]string{}}
	for _, assignment := range assignments {
		name, weight, ok := strings.Cut(assignment, "=")
		if !ok {
			return rules, fmt.Errorf("invalid weight %q: use RESOURCE=GPUS, such as nvidia.com/gpu=1", assignment)
		}
		if before, twice := rules.Weights[name]; twice && before != weight {
			return rules, fmt.Errorf("%s has two weights, %s and %s", name, before, weight)
		}
		rules.Weights[name] = weight
	}
	return rules, nil
}

// coverage returns the selection of pods by the flags.
func (o *options) coverage() (func(string, map[string]string) bool, error) {
	namespaces := map[string]bool{}
	for _, name := range o.namespaces {
		if reasons := validation.IsDNS1123Label(name); len(reasons) > 0 {
			return nil, fmt.Errorf("--namespace: invalid namespace %q: %s", name, strings.Join(reasons, "; "))
		}
		namespaces[name] = true
	}
	selector := labels.Everything()
	if o.given("selector") {
		if strings.TrimSpace(o.selector) == "" {
			return nil, errors.New("--selector is empty: omit it to count all pods")
		}
		parsed, err := labels.Parse(o.selector)
		if err != nil {
			return nil, fmt.Errorf("--selector: invalid label selector %q: %w", o.selector, err)
		}
		selector = parsed
	}
	return func(namespace string, podLabels map[string]string) bool {
		return (len(namespaces) == 0 || namespaces[namespace]) && selector.Matches(labels.Set(podLabels))
	}, nil
}
