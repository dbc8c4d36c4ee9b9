package conservation_test

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// lifts judges that something is let go that an exceeded budget held back. An apply goes
// by what the last run found, and so does a run that cannot write the ledger, as long as
// that is fresh.
func (w *world) lifts(promise, what string, concerns func(*budgetState) bool) {
	for _, b := range w.budgets {
		if w.running && !w.unwritten && !b.deleting && concerns(b) && w.used(b) > w.limit(b)*51/50 {
			w.violated(promise, "%s, and the budget %s has really used %s of %s GPU-hours", what, b.states[0].Name, budget.Hours(w.used(b)),
				budget.Hours(w.limit(b)))
		}
	}
}

// used is what the pods of a budget really used, in milli-GPU-seconds.
func (w *world) used(b *budgetState) (sum int64) {
	for _, p := range w.cluster.pods {
		if !b.selects(p.labels) {
			continue
		}
		until := p.to
		if until.IsZero() {
			until = time.Now()
		}
		sum += b.weighs(p) * until.Sub(p.from).Milliseconds()
	}
	return sum
}

// weighs is how many GPUs a pod counts as.
func (b *budgetState) weighs(p *lived) int64 {
	if b.setup.Weightless {
		return p.units[fpga]
	}
	return p.units["nvidia.com/gpu"]
}

// limit is the highest that may be in force.
func (w *world) limit(b *budgetState) (most int64) {
	for _, d := range b.states {
		limit, _ := d.Limit()
		most = max(most, limit)
	}
	if time.Now().Before(b.granted) {
		most += 100 * budget.Hour
	}
	return most
}

// appliedStock judges the application of a stock pool's Deployment.
func (w *world) appliedStock(key string, uid string, templates []map[string]string, was, now int, marked []string) {
	w.logf("gpupool scaled the Deployment %s from %d to %d", key, was, now)
	if !w.ours[uid] {
		w.violated(promiseForeign, "the Deployment %s (%s) was changed", key, uid)
	}
	if now > was {
		w.grown[key] = true
		w.lifts(promiseUnknown, "scaled "+key+" up", func(b *budgetState) bool { return !b.setup.Weightless && b.selects(templates[0]) })
	}
	if now == 0 && was > 0 {
		w.zeroed[key] = true
		if len(marked) > 0 {
			w.violated(promiseProtected, "pausing %s ended %v", key, marked)
		}
		if !w.pausable(templates) {
			w.violated(promiseWeight, "%s was paused", key)
		}
	}
	if w.running && w.zeroed[key] && w.grown[key] {
		w.violated(promiseOneWay, "%s was scaled to 0 and up in one run", key)
	}
}

// pausable says whether a budget pauses what makes pods of one of these labels.
func (w *world) pausable(templates []map[string]string) bool {
	for _, b := range w.budgets {
		for _, labels := range templates {
			if b.setup.Action == budget.Pause && !b.setup.Weightless && b.selects(labels) && w.used(b)*50/49 >= w.limit(b) {
				return true
			}
		}
	}
	return false
}

// uncounted looks for budgets that report no usage though their pods run.
func (w *world) uncounted(o observed) {
	if !o.whole {
		return
	}
	for _, b := range w.budgets {
		for _, r := range o.report.Budgets {
			if r.Name != b.states[0].Name || !r.Observed || r.UsageReport == nil || r.ConsumedMilliGPUSeconds > 0 || r.Error != nil {
				continue
			}
			for uid, p := range w.cluster.pods {
				if p.to.IsZero() && time.Since(p.from) > time.Minute && b.selects(p.labels) && b.weighs(p) > 0 {
					w.violated(promiseUsage, "the budget %s reports none, and the pod %s runs since %s", r.Name, uid, p.from.UTC().Format(time.TimeOnly))
				}
			}
		}
	}
}
