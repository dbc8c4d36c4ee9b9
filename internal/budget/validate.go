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
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
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
	v.Name("name", d.Name, "budget")
	if _, err := d.Limit(); err != nil {
		v.Add("gpu_hours", reason.InvalidLimit(reason.Failure(err)))
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
		v.Add(attribute, reason.Repeated(reason.Quoted(list[n])))
	}
}

func (v *validator) window(zones Zones) {
	d := v.d
	switch {
	case d.Window == "" && d.Period == "":
		v.Add("window", reason.NoWindow())
		return
	case d.Window != "" && d.Period != "":
		v.Add("period", reason.TwoWindows())
	}
	if d.Window != "" {
		if _, err := ParseWindow(d.Window); err != nil {
			v.Add("window", reason.InvalidWindow(reason.Failure(err)))
		}
	}
	if d.Period != "" {
		problem.OneOf(&v.List, "period", d.Period, Day, Week, Month, Quarter)
	} else if d.TimeZone != "" {
		v.Add("time_zone", reason.ZoneOfWindow())
	}
	if _, err := ParseZone(d.TimeZone, zones); err != nil {
		v.Add("time_zone", reason.BudgetTimeZone(reason.Failure(err)))
	}
}

func (v *validator) thresholds() {
	t := v.d.Thresholds
	if len(t) == 0 {
		v.Add("thresholds", reason.NoThreshold(reason.Value(enumeration(DefaultThresholds()))))
	}
	for n, percent := range t {
		at := fmt.Sprintf("thresholds[%d]", n)
		v.Within(at, int64(percent), 1, MaxThreshold, reason.ThresholdRange)
		switch {
		case n > 0 && percent == t[n-1]:
			v.Add(at, reason.ThresholdRepeated(reason.Count(percent)))
		case n > 0 && percent < t[n-1]:
			v.Add(at, reason.ThresholdOrder(reason.Count(percent), reason.Count(t[n-1])))
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
			v.Add(at, reason.ResourceName(reason.Quoted(resource)))
		}
		v.weight(at, d.ResourceWeights[resource])
	}
	for _, model := range slices.Sorted(maps.Keys(d.ModelWeights)) {
		at := fmt.Sprintf("model_weights[%q]", model)
		if strings.TrimSpace(model) == "" || len(model) > validation.LabelValueMaxLength {
			v.Add(at, reason.ModelName(reason.Quoted(model)))
		}
		v.weight(at, d.ModelWeights[model])
	}
	for n, key := range d.BreakdownLabels {
		at := fmt.Sprintf("breakdown_labels[%d]", n)
		v.labelKey(at, key)
		v.once(at, d.BreakdownLabels, n)
	}
	v.duration("max_status_age", d.MaxStatusAge, time.Minute, reason.InvalidStatusAge, reason.StatusAgeRange)
}

func (v *validator) weight(attribute, text string) {
	if _, err := weight.Parse(text); err != nil {
		v.Add(attribute, reason.InvalidWeight(reason.Failure(err)))
	}
}

func (v *validator) duration(attribute, text string, least time.Duration, invalid func(reason.Foreign) reason.Reason,
	outOfRange func(written reason.Value, least, most reason.Duration) reason.Reason,
) {
	d, err := duration.Parse(text)
	if errors.Is(err, duration.ErrTooLong) {
		d, err = math.MaxInt64, nil
	}
	if err != nil {
		v.Add(attribute, invalid(reason.Failure(err)))
		return
	}
	v.Lasts(attribute, text, d, least, LongestDuration, outOfRange)
}

func (v *validator) enforcement() {
	e := v.d.Enforce
	problem.OneOf(&v.List, "enforcement.action", e.Action, AlertOnly, Freeze, Pause, Evict)
	problem.OneOf(&v.List, "enforcement.eviction_order", e.EvictionOrder, LowestPriority, NewestStart, SpotFirst, LargestUsage)
	problem.OneOf(&v.List, "enforcement.on_manual_resume", e.OnManualResume, ResumeWarn, ResumePause)
	problem.OneOf(&v.List, "enforcement.on_ineffective", e.OnIneffective, FallbackWarn, FallbackEvict)
	if e.OnIneffective == FallbackEvict && e.Action != Pause {
		v.Add("enforcement.on_ineffective", reason.NoFallback(reason.Word(e.Action)))
	}
	v.duration("enforcement.grace_period", e.GracePeriod, 0, reason.InvalidGrace, reason.GraceRange)
	v.duration("enforcement.max_grace_period", e.MaxGracePeriod, time.Second, reason.InvalidPodGrace, reason.PodGraceRange)
	v.duration("enforcement.max_gap", e.MaxGap, time.Second, reason.InvalidGap, reason.GapRange)
	evictions := reason.NoEvictionsPerRun
	if e.MaxEvictionsPerRun != 0 {
		evictions = func(n, least, most reason.Count) reason.Reason {
			return reason.EvictionsRange(n, least, most, DefaultMaxEvictionsPerRun)
		}
	}
	v.Within("enforcement.max_evictions_per_run", int64(e.MaxEvictionsPerRun), 1, MaxEvictions, evictions)
	if c := e.ProtectedPriorityClass; c != "" && len(validation.IsDNS1123Subdomain(c)) > 0 {
		v.Add("enforcement.protected_priority_class", reason.PriorityClassName(reason.Quoted(c)))
	}
	for n, namespace := range e.ProtectedNamespaces {
		at := fmt.Sprintf("enforcement.protected_namespaces[%d]", n)
		v.namespace(at, namespace)
		v.once(at, e.ProtectedNamespaces, n)
	}
}
