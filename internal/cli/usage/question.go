package usage

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// question is what the flags ask for: which pods count, by what weights, over which
// time, and against which limit.
type question struct {
	at, read time.Time // the time asked about, and one not after the pods were read
	window   string
	length   time.Duration // of the window
	from     budget.CountFrom
	limit    int64 // milli-GPU-seconds; 0 for none
	rules    gpu.Rules
	weights  *gpu.Table // of the rules
	covers   func(namespace string, podLabels map[string]string) bool
}

// begin is when the window begins.
func (q question) begin() time.Time { return q.at.Add(-q.length) }

// question reads the flags that both sources, cluster and lists of pods, have in
// common.
func (o *options) question() (q question, err error) {
	now := o.session.Now().UTC()
	q = question{at: now, read: now, window: o.window, from: budget.CountFrom(o.countFrom)}
	if q.length, err = budget.ParseWindow(o.window); err != nil {
		return q, fmt.Errorf("--window: %w", err)
	}
	if o.given("gpu-hours") {
		if q.limit, err = budget.ParseHours(o.gpuHours); err != nil {
			return q, fmt.Errorf("--gpu-hours: %w", err)
		}
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

// offlineQuestion reads the flags of usage without a cluster, before any file is
// read.
func (o *options) offlineQuestion() (question, error) {
	switch {
	case o.pods == "":
		return question{}, errors.New("--pods names no file: write --pods FILE, or --pods - for standard input")
	case o.pods == "-" && o.nodes == "-":
		return question{}, errors.New("standard input can be read once only: --pods and --nodes can't both be -")
	case o.given("nodes") && o.nodes == "":
		return question{}, errors.New("--nodes names no file")
	}
	var at time.Time
	if o.given("at") {
		var err error
		if at, err = parseMoment(o.at); err != nil {
			return question{}, err
		}
	}
	q, err := o.question()
	if err == nil && o.given("at") {
		q.at = at
		q.read = at.Add(budget.LongestWindow) // so that the answer does not depend on when it is asked
	}
	return q, err
}

// parseMoment reads the time of --at, and refuses years far off as mistyped.
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
