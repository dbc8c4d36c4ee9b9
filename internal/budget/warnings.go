package budget

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/weight"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
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
		v.Add("thresholds", "Add 100 to get an alert when the limit is reached.",
			"the highest threshold is %d%%, so nothing reports that the limit is reached", most)
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
		v.Add("enforcement.grace_period", "Shorten it, or choose a longer window.",
			"the grace period of %s is no shorter than the window of %s, in which usage passes by itself", e.GracePeriod, d.Window)
	}
	if d.Selector.Unbounded() {
		v.Add("selector", "Name the budget's namespaces, or their labels in namespace_labels: those are not a tenant's to choose.",
			"its pods are selected only by labels, in all namespaces. Everyone who can create a pod can label it into this budget and use the budget up, "+
				"and %s for it", threats[e.Action])
	}
	var spared []string
	for _, namespace := range d.Selector.Namespaces {
		if slices.Contains(e.ProtectedNamespaces, namespace) || slices.Contains(SystemNamespaces(), namespace) {
			spared = append(spared, namespace)
		}
	}
	if e.Action != Freeze && len(spared) > 0 {
		v.Add("selector.namespaces", "Leave them out of the selector, or out of what is protected.", "pods of %s count, and are never %s", wording.Some(spared),
			e.Action.Past())
	}
	if e.Action != Evict && e.Action != Pause {
		return
	}
	if grace == 0 {
		v.Add("enforcement.grace_period", "A few minutes leave time to save work.", "pods end in the run that finds the limit reached")
	}
	if gap, _ := duration.Parse(e.MaxGap); gap > unsafeGap {
		v.Add("enforcement.max_gap", "Keep it near the time between two runs, such as \"15m\".",
			"with max_gap %s, pods may be evicted because of estimates only", e.MaxGap)
	}
}

// threats are the consequences of a reached limit; alerts have none.
var threats = map[Action]string{
	Evict:  "others' pods are evicted",
	Pause:  "others' workloads are paused",
	Freeze: "others' new pods are kept out",
}

func (v *validator) zeroWeight(attribute, text string) {
	if w, err := weight.Parse(text); err == nil && w.Sign() == 0 {
		v.Add(attribute, "Remove it to count them.", "a weight of 0 counts nothing")
	}
}
