package budget

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// rearmBelow is by how many points usage must have fallen below a threshold of a
// rolling window for it to fire again.
const rearmBelow = 5

// alert tells of the thresholds that are reached and were not told of: of all of them
// at once, since the same is to be said of each.
func (d *decider) alert() {
	d.plan.fired = d.stillFired()
	var reached []int
	for _, threshold := range d.Declaration.Thresholds {
		if !slices.Contains(d.plan.fired, threshold) && comparePercent(d.usage.Consumed, d.usage.Limit, threshold) >= 0 {
			reached = append(reached, threshold)
		}
	}
	if len(reached) > 0 {
		slices.Sort(reached)
		d.decide(Decision{Kind: KindAlert, Thresholds: reached, Namespaces: d.namespaces(), Reasons: d.outlook()})
	}
}

// stillFired are the thresholds that were told of and have not re-armed: in a
// calendar period they do so when the next begins, else when usage has fallen
// well below, as it does in a rolling window or under a raised limit. None does while
// usage is unknown.
func (d *decider) stillFired() []int {
	previous, of := d.previous(), d.Declaration
	if of.Period != "" && previous.At.Before(d.usage.WindowStart) {
		return nil
	}
	unknown := d.plan.Status.Unknown != nil
	kept := unknown || of.Period != "" && previous.Generation == of.Generation && previous.Usage.Limit == d.usage.Limit
	var fired []int
	for _, threshold := range previous.Fired {
		declared := slices.Contains(of.Thresholds, threshold)
		if declared && (kept || comparePercent(d.usage.Consumed, d.usage.Limit, threshold-rearmBelow) > 0) {
			fired = append(fired, threshold)
		}
	}
	return fired
}

// namespaces are those that used most, in order of their names; where none did,
// those that had when it was last judged.
func (d *decider) namespaces() []string {
	of := d.usage
	if len(of.ByNamespace) == 0 {
		of = d.previous().Usage
	}
	return slices.Sorted(slices.Values(of.MostUsing()))
}

// used says how much of the limit is used.
func (d *decider) used() string {
	return fmt.Sprintf("%s of %s GPU-hours are used (%s%%)", Hours(d.usage.Consumed), Hours(d.usage.Limit), percent(d.usage.Consumed, d.usage.Limit))
}

// percent is the part of a whole in percent, rounded down to a whole number.
func percent(part, whole int64) string {
	of := new(big.Int).Mul(big.NewInt(part), big.NewInt(100))
	return of.Quo(of, big.NewInt(max(whole, 1))).String()
}

// gpus is a rate in words.
func gpus(rate int64) string {
	if rate == 1000 {
		return "1 GPU"
	}
	return MilliGPUs(rate) + " GPUs"
}

// outlook says how much is used, and what comes of it.
func (d *decider) outlook() []string {
	reasons := []string{d.used()}
	u := d.usage
	if u.BurnRate > 0 {
		burn := fmt.Sprintf("%d %s %s now", u.ActivePods, wording.Plural(u.ActivePods, "pod holds", "pods hold"), gpus(u.BurnRate))
		if u.ProjectedExhaustion != nil {
			burn += ", which uses the rest up by " + stamp(*u.ProjectedExhaustion)
		}
		reasons = append(reasons, burn)
	}
	if !u.Exceeded() {
		return reasons
	}
	reasons = append(reasons, d.recovery()...)
	action := d.Declaration.Enforce.Action
	switch at := d.plan.Status.EnforceAt; {
	case at == nil:
		return append(reasons, "its enforcement is alert_only, so nothing else is done")
	case !d.due:
		return append(reasons, fmt.Sprintf("its grace period lasts until %s, and then its enforcement is %s", stamp(*at), action))
	}
	return append(reasons, fmt.Sprintf("its grace period is over, and its enforcement is %s", action))
}

// recovery says when usage falls below the limit by itself, where that is known.
func (d *decider) recovery() []string {
	switch at := d.usage.RecoversAt; {
	case at == nil:
		return nil
	case d.Declaration.Period != "":
		return []string{"its period ends at " + stamp(*at) + ", and usage begins anew"}
	default:
		return []string{"it recovers by itself at " + stamp(*at) + " if nothing more is used"}
	}
}

// because says why the limit is enforced.
func (d *decider) because() []string {
	crossed := d.used()
	if since := d.Result.ExceededSince; since != nil {
		crossed += " since " + stamp(*since)
	}
	reasons := []string{crossed}
	if at := d.plan.Status.EnforceAt; at != nil {
		reasons = append(reasons, fmt.Sprintf("the grace period of %s ended at %s", d.Declaration.Enforce.GracePeriod, stamp(*at)))
	}
	return reasons
}
