package budget

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/weight"
)

// Problem is something wrong, or suspicious, in a declaration.
type Problem = problem.Problem

// The ranges of what a declaration counts.
const (
	// MaxThreshold is the highest alert threshold in percent.
	MaxThreshold = 1000
	// MaxEvictions bounds what one run may evict.
	MaxEvictions = 10_000
	// LongestDuration bounds the grace period, the gap and the age of a status.
	LongestDuration = 30 * 24 * time.Hour
)

// Validate says everything that is wrong with a declaration and can be known
// without a cluster. What a user may leave out has to be filled in before, see
// WithDefaults.
func (d Declaration) Validate(zones Zones) []Problem {
	v := &validator{d: d}
	v.Name("name", d.Name, "a budget")
	if _, err := d.Limit(); err != nil {
		v.Add("gpu_hours", "Write the limit in GPU-hours above zero, such as \"100\" or \"12.5\", with at most three digits after the point.", "%v", err)
	}
	v.window(zones)
	v.selector()
	v.thresholds()
	v.counting()
	v.enforcement()
	return v.List
}

// validator gathers the problems of one declaration.
type validator struct {
	problem.List
	d Declaration
}

// once adds a problem where the nth of a list is there already.
func (v *validator) once(attribute string, list []string, n int) {
	if slices.Index(list, list[n]) < n {
		v.Add(attribute, "Leave one of them out.", "%q is there already", list[n])
	}
}

func (v *validator) window(zones Zones) {
	d := v.d
	switch {
	case d.Window == "" && d.Period == "":
		v.Add("window", "Write window = \"24h\" for a rolling window, or period = \"month\" for the calendar's.",
			"the budget has neither a window nor a period")
		return
	case d.Window != "" && d.Period != "":
		v.Add("period", "Leave one of them out.", "the budget has both a window and a period")
	}
	if d.Window != "" {
		if _, err := ParseWindow(d.Window); err != nil {
			v.Add("window", "Write a length between a minute and 400 days, such as \"24h\" or \"7d\".", "%v", err)
		}
	}
	if d.Period != "" {
		problem.OneOf(&v.List, "period", d.Period, Day, Week, Month, Quarter)
	} else if d.TimeZone != "" {
		v.Add("time_zone", "Leave it out: a rolling window is as long in every zone.", "a time zone belongs to a period")
	}
	if _, err := ParseZone(d.TimeZone, zones); err != nil {
		v.Add("time_zone", "Name a zone such as \"Asia/Singapore\", or leave it out for UTC.", "%v", err)
	}
}

func (v *validator) thresholds() {
	t := v.d.Thresholds
	if len(t) == 0 {
		v.Add("thresholds", "Leave it out for "+enumeration(DefaultThresholds())+", or name at least one.", "no threshold is declared")
	}
	for n, percent := range t {
		at := fmt.Sprintf("thresholds[%d]", n)
		if percent < 1 || percent > MaxThreshold {
			v.Add(at, "Write percents of the limit.", "%d is out of range: it must be between 1 and %d", percent, MaxThreshold)
		}
		switch {
		case n > 0 && percent == t[n-1]:
			v.Add(at, "Leave one of them out.", "%d is there already", percent)
		case n > 0 && percent < t[n-1]:
			v.Add(at, "List the thresholds from low to high.", "%d comes after %d", percent, t[n-1])
		}
	}
}

func (v *validator) counting() {
	d := v.d
	problem.OneOf(&v.List, "count_from", d.CountFrom, FromScheduled, FromRunning)
	problem.OneOf(&v.List, "pod_end_estimate", d.PodEndEstimate, ledger.EstimateEarliest, ledger.EstimateMidpoint, ledger.EstimateLatest)
	for _, resource := range slices.Sorted(maps.Keys(d.ResourceWeights)) {
		at := fmt.Sprintf("resource_weights[%q]", resource)
		if len(validation.IsQualifiedName(resource)) > 0 {
			v.Add(at, "Write it as a pod's requests do, such as \"nvidia.com/gpu\".", "invalid resource name %q", resource)
		}
		v.weight(at, d.ResourceWeights[resource])
	}
	for _, model := range slices.Sorted(maps.Keys(d.ModelWeights)) {
		at := fmt.Sprintf("model_weights[%q]", model)
		if strings.TrimSpace(model) == "" || len(model) > validation.LabelValueMaxLength {
			v.Add(at, "Write it as the node's label does, such as \"Tesla-T4\", or as Tencent Cloud does, such as \"GN7.2XLARGE32\".",
				"%q is no GPU model or instance type", model)
		}
		v.weight(at, d.ModelWeights[model])
	}
	for n, key := range d.BreakdownLabels {
		at := fmt.Sprintf("breakdown_labels[%d]", n)
		v.labelKey(at, key)
		v.once(at, d.BreakdownLabels, n)
	}
	v.duration("max_status_age", d.MaxStatusAge, time.Minute, "Write how old the last judgement may be that lets a spot pool launch, such as \"1h\".")
}

func (v *validator) weight(attribute, text string) {
	if _, err := weight.Parse(text); err != nil {
		v.Add(attribute, "Write GPUs a unit, such as \"1\", \"0.5\" or \"1/7\".", "%v", err)
	}
}

func (v *validator) duration(attribute, text string, least time.Duration, detail string) {
	d, err := duration.Parse(text)
	if errors.Is(err, duration.ErrTooLong) {
		d, err = math.MaxInt64, nil
	}
	if err != nil {
		v.Add(attribute, detail, "%v", err)
		return
	}
	v.Lasts(attribute, text, d, least, LongestDuration, detail)
}

func (v *validator) enforcement() {
	e := v.d.Enforce
	problem.OneOf(&v.List, "enforcement.action", e.Action, AlertOnly, Freeze, Pause, Evict)
	problem.OneOf(&v.List, "enforcement.eviction_order", e.EvictionOrder, LowestPriority, NewestStart, SpotFirst, LargestUsage)
	problem.OneOf(&v.List, "enforcement.on_manual_resume", e.OnManualResume, ResumeWarn, ResumePause)
	problem.OneOf(&v.List, "enforcement.on_ineffective", e.OnIneffective, FallbackWarn, FallbackEvict)
	if e.OnIneffective == FallbackEvict && e.Action != Pause {
		v.Add("enforcement.on_ineffective", "Leave it out, or use the action pause.", "the action %s has no fallback: only a pause may evict", e.Action)
	}
	v.duration("enforcement.grace_period", e.GracePeriod, 0, "Write how long nothing is done after the limit was reached, such as \"10m\".")
	v.duration("enforcement.max_grace_period", e.MaxGracePeriod, time.Second, "Write how long pods that are evicted may take to end, such as \"5m\".")
	v.duration("enforcement.max_gap", e.MaxGap, time.Second, "Write how long observation may have been interrupted for pods to be evicted on estimates, "+
		"such as \"15m\".")
	evictions := fmt.Sprintf("Leave it out for %d.", DefaultMaxEvictionsPerRun)
	if e.MaxEvictionsPerRun == 0 {
		evictions = "Use the action freeze or alert_only to have nothing evicted."
	}
	v.Within("enforcement.max_evictions_per_run", int64(e.MaxEvictionsPerRun), 1, MaxEvictions, "", evictions)
	if c := e.ProtectedPriorityClass; c != "" && len(validation.IsDNS1123Subdomain(c)) > 0 {
		v.Add("enforcement.protected_priority_class", "Write it as \"kubectl get priorityclasses\" does.", "invalid name of a priority class %q", c)
	}
	for n, namespace := range e.ProtectedNamespaces {
		at := fmt.Sprintf("enforcement.protected_namespaces[%d]", n)
		v.namespace(at, namespace)
		v.once(at, e.ProtectedNamespaces, n)
	}
}
