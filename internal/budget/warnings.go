package budget

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/weight"
)

// unsafeGap is a gap so long that estimates across it say little.
const unsafeGap = 6 * time.Hour

// Warnings returns what is allowed in a declaration and yet probably not meant.
// The declaration must be valid, with its defaults filled in.
func (d Declaration) Warnings() []Problem {
	v := &validator{d: d}
	if d.Enforce.Action != AlertOnly {
		v.enforcementWarnings()
	}
	if most := slices.Max(d.Thresholds); most < 100 {
		v.Add("thresholds", reason.ThresholdsBelow100(reason.Count(most)))
	}
	for _, resource := range slices.Sorted(maps.Keys(d.ResourceWeights)) {
		v.zeroWeight(fmt.Sprintf("resource_weights[%q]", resource), d.ResourceWeights[resource])
	}
	for _, model := range slices.Sorted(maps.Keys(d.ModelWeights)) {
		v.zeroWeight(fmt.Sprintf("model_weights[%q]", model), d.ModelWeights[model])
	}
	return v.List
}

func (v *validator) enforcementWarnings() {
	d, e := v.d, v.d.Enforce
	grace, _ := duration.Parse(e.GracePeriod)
	if rolling, err := ParseWindow(d.Window); err == nil && grace >= rolling {
		v.Add("enforcement.grace_period", reason.GraceAboveWindow(reason.NewValue(e.GracePeriod), reason.NewValue(d.Window)))
	}
	if d.Selector.Unbounded() {
		v.Add("selector", reason.SelectedByTenant(threats[e.Action]()))
	}
	var spared []string
	for _, namespace := range d.Selector.Namespaces {
		if slices.Contains(e.ProtectedNamespaces, namespace) || slices.Contains(SystemNamespaces(), namespace) {
			spared = append(spared, namespace)
		}
	}
	if e.Action != Freeze && len(spared) > 0 {
		v.Add("selector.namespaces", reason.SparedNamespaces(spared, reason.Word(e.Action.Past())))
	}
	if e.Action != Evict && e.Action != Pause {
		return
	}
	if grace == 0 {
		v.Add("enforcement.grace_period", reason.NoGrace())
	}
	if gap, _ := duration.Parse(e.MaxGap); gap > unsafeGap {
		v.Add("enforcement.max_gap", reason.GapTooLong(reason.NewValue(e.MaxGap)))
	}
}

// threats are the consequences of a reached limit; alerts have none.
var threats = map[Action]func() reason.Reason{
	Evict:  reason.OthersEvicted,
	Pause:  reason.OthersPaused,
	Freeze: reason.OthersFrozen,
}

func (v *validator) zeroWeight(attribute, text string) {
	if w, err := weight.Parse(text); err == nil && w.Sign() == 0 {
		v.Add(attribute, reason.ZeroWeight())
	}
}
