package conservation_test

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
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

// pausable reports whether a budget pauses the owner of pods with these labels.
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

// uncounted finds budgets without usage though their pods run.
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

// covered returns the running pods with GPUs that a budget counts and that are not being
// deleted.
func (w *world) covered(b *budgetState) (list []gpu.Pod) {
	for _, p := range w.cluster.List() {
		if of := w.cluster.pods[p.UID]; of != nil && p.Deletion == 0 && b.selects(of.labels) && b.weighs(of) > 0 {
			list = append(list, p)
		}
	}
	return list
}

// stillRunning finds workloads that a run reports as paused though their pods run.
func (w *world) stillRunning(o observed) {
	for _, r := range o.report.Budgets {
		if !o.whole || !slices.Contains(r.Enforced, budget.Pause) {
			continue
		}
		n := slices.IndexFunc(w.budgets, func(b *budgetState) bool { return b.states[0].Name == r.Name })
		for _, p := range w.covered(w.budgets[n]) {
			if of := w.cluster.Workloads[ownerOf(p).UID]; of != nil && of.Stopped {
				w.violated(promisePaused, "%s enforces %v, and the pod %s of the stopped %s runs", r.Name, r.Enforced, p.Name, of.Name)
			}
		}
	}
	for _, r := range o.report.StockPools {
		if o.whole && r.Status != nil && r.Phase == decide.Paused && len(w.cluster.StockPods(r.Namespace+"/"+r.Name)) > 0 {
			w.violated(promisePaused, "%s is %s, and has pods", r.Name, r.Phase)
		}
	}
}

// toEvict matches how many pods the next runs evict.
var toEvict = regexp.MustCompile(`(\d+) more pods? (?:is|are) to be evicted`)

// unnamed finds running pods of an exceeded, enforcing budget that the run neither acted on nor has in the status,
// as later processes read it.
func (w *world) unnamed(o observed) {
	var stored []budgets.Description
	for _, r := range o.report.Budgets {
		enforces := r.Action == budget.Pause || r.Action == budget.Evict
		if !o.whole || !r.Observed || r.Exceeded == nil || !*r.Exceeded || !enforces || r.EnforceAt.After(r.AsOf) || !r.Withheld.IsZero() {
			continue
		}
		if stored == nil {
			status, err := w.process(w.store).Runner().Status(context.Background())
			w.must("reading the status", err)
			stored = status.Budgets
		}
		n := slices.IndexFunc(w.budgets, func(b *budgetState) bool { return b.states[0].Name == r.Name })
		acted, text := w.named(o, stored, r.Name)
		counted := 0 // those beyond max_evictions_per_run
		if more := toEvict.FindStringSubmatch(text); more != nil {
			counted, _ = strconv.Atoi(more[1]) // digits only
		}
		for _, p := range w.covered(w.budgets[n]) {
			owner := ownerOf(p)
			// Another budget may have resumed it in this run. An evicted pod of a stock pool is left to its Deployment.
			if of := w.cluster.pods[p.UID]; !of.from.Before(w.runs) || !of.to.IsZero() {
				continue
			}
			if !strings.Contains(acted+text, p.Name) && !strings.Contains(acted+text, owner.Kind+" ml/"+owner.Name) {
				if counted--; counted >= 0 {
					continue
				}
				w.violated(promiseNamed, "%s says nothing of the pod %s of %s: %s%s", r.Name, p.Name, owner.Name, acted, text)
			}
		}
	}
}

// named is what a run did for a budget, and what its status says of the rest.
func (w *world) named(o observed, stored []budgets.Description, name string) (acted, text string) {
	for _, d := range o.report.Decisions {
		if d.Outcome == outcome.Done && d.Object() == "budget/"+name {
			acted += d.Summary() + "\n"
		}
	}
	for _, b := range stored {
		if b.Name != name {
			continue
		}
		for _, e := range b.Effects {
			text += string(e.Phase) + " " + e.String() + "\n"
		}
		text += strings.Join(b.Warnings.Texts(), "\n")
	}
	return acted, text
}

// crowds finds runs that start several Jobs of a CronJob that runs one at a time.
func (w *world) crowds(observed) {
	if w.scheduled && !w.concurrent && w.resumedJobs > 1 {
		w.violated(promiseJobs, "%d were resumed", w.resumedJobs)
	}
}

// overdue finds waits that exceed their timeout.
func (w *world) overdue(o observed) {
	for _, r := range o.report.Budgets {
		for _, e := range r.Effects {
			if o.whole && e.Phase == budget.Requested && r.AsOf.Sub(e.Since) > budget.EffectTimeout {
				w.violated(promiseTimely, "%s: %s since %s", r.Name, e, e.Since)
			}
		}
	}
}
