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
)

// question is what the flags ask for: which pods count, by what weights, over which
// time, and against which limit.
type question struct {
	at, read time.Time // as of when, and no later than when the pods were read
	begin    time.Time // when the window begins
	// declared has the window, and from when pods count; all else of it is not asked.
	declared budget.Declaration
	limit    int64 // milli-GPU-seconds; 0 for none
	rules    gpu.Rules
	weights  *gpu.Table // of the rules
	covers   func(namespace string, podLabels map[string]string) bool
	listing  listing
	clock    terminal.Clock
}

// kept is what of a pod's labels is asked for once it is known to be covered.
func (q question) kept(labels map[string]string) map[string]string {
	value, there := labels[q.listing.label]
	if !there {
		return nil
	}
	return map[string]string{q.listing.label: value}
}

// question reads the flags that both sources, cluster and lists of pods, have in
// common.
func (o *options) question() (q question, err error) {
	now := o.session.Now().UTC()
	q = question{at: now, read: now}
	over, err := o.over()
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

// over is the window and the limit that the flags name, where they do.
func (o *options) over() (budgets.Over, error) {
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
		return over, errors.New("--time-zone is empty: name one of the IANA database such as \"Europe/Berlin\"")
	}
	_, err := o.limit()
	if err == nil {
		over.GPUHours = o.gpuHours
	}
	return over, err
}

// limit is that of --gpu-hours; 0 for none.
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

// moment is the time of --at; zero for now.
func (o *options) moment() (time.Time, error) {
	if !o.given("at") {
		return time.Time{}, nil
	}
	return parseMoment(o.at)
}

// offlineQuestion understands the flags of usage without a cluster, before anything
// is read.
func (o *options) offlineQuestion() (question, error) {
	switch {
	case o.pods == "":
		return question{}, errors.New("--pods names no file: write --pods FILE, or --pods - for standard input")
	case o.pods == "-" && o.nodes == "-":
		return question{}, errors.New("standard input can be read once only: --pods and --nodes can't both be -")
	case o.given("nodes") && o.nodes == "":
		return question{}, errors.New("--nodes names no file")
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
		q.read = at.Add(budget.LongestWindow) // so that the answer does not depend on when it is asked
	}
	w, err := q.declared.WindowAt(q.at, time.LoadLocation)
	q.begin = w.Start
	return q, err
}

var errNoLimit = errors.New("--exit-code needs a limit: add --gpu-hours")

// parseMoment reads the time of --at. Years far off are mistyped.
func parseMoment(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("--at: %q is no time: write it as RFC 3339 has it, such as 2026-11-02T12:00:00Z", text)
	}
	if at.Year() < 2000 || at.Year() > 2999 {
		return at, fmt.Errorf("--at: %q is no time at which pods ran", text)
	}
	return at.UTC(), nil
}

// parseWeights reads the weights that --weight sets.
func parseWeights(assignments []string) (gpu.Rules, error) {
	rules := gpu.Rules{Weights: map[string]string{}}
	for _, assignment := range assignments {
		name, weight, ok := strings.Cut(assignment, "=")
		if !ok {
			return rules, fmt.Errorf("%q sets no weight: write RESOURCE=GPUS, such as nvidia.com/gpu=1", assignment)
		}
		if before, twice := rules.Weights[name]; twice && before != weight {
			return rules, fmt.Errorf("%s has two weights, %s and %s", name, before, weight)
		}
		rules.Weights[name] = weight
	}
	return rules, nil
}

// coverage says which pods the flags select.
func (o *options) coverage() (func(string, map[string]string) bool, error) {
	namespaces := map[string]bool{}
	for _, name := range o.namespaces {
		if reasons := validation.IsDNS1123Label(name); len(reasons) > 0 {
			return nil, fmt.Errorf("--namespace: %q is no namespace: %s", name, strings.Join(reasons, "; "))
		}
		namespaces[name] = true
	}
	selector := labels.Everything()
	if o.given("selector") {
		if strings.TrimSpace(o.selector) == "" {
			return nil, errors.New("--selector is empty: leave it out to count all pods")
		}
		parsed, err := labels.Parse(o.selector)
		if err != nil {
			return nil, fmt.Errorf("--selector: %q is no selector of labels: %w", o.selector, err)
		}
		selector = parsed
	}
	return func(namespace string, podLabels map[string]string) bool {
		return (len(namespaces) == 0 || namespaces[namespace]) && selector.Matches(labels.Set(podLabels))
	}, nil
}
