package conservation_test

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
)

func (w *world) scaleTenant(which, how int) {
	if d, ok := pick(w.tenants, which); ok {
		w.logf("the tenant scales %s to %d", d.name, how%4)
		w.cluster.scale(d, how%4)
	}
}

// stick makes the controller of a tenant's Deployment keep its pods when that is scaled to 0,
// or delete them again.
func (w *world) stick(which, how int) {
	d, ok := pick(w.tenants, which)
	if !ok {
		return
	}
	stuck := how%3 > 0
	w.logf("the pods of %s stay when it is paused: %t", d.name, stuck)
	w.cluster.Stuck[d.name] = stuck
	if of := w.cluster.Workloads["uid-of-"+d.name]; !stuck && of != nil && of.Stopped {
		w.cluster.scale(d, 0)
	}
}

// refuse has the cluster refuse the pauses of a tenant's workload, or no more.
func (w *world) refuse(which, how int) {
	if d, ok := pick(w.tenants, which); ok {
		w.logf("the cluster refuses to pause %s: %t", d.name, how%2 == 0)
		w.cluster.Refused = map[bool]map[string]string{true: {d.name: "a webhook says no"}}[how%2 == 0]
	}
}

// autoscale has an autoscaler scale a tenant's workload from zero, or no more.
func (w *world) autoscale(which, how int) {
	if d, ok := pick(w.tenants, which); ok {
		w.cluster.Driven[d.name] = how%2 == 0
		w.logf("an autoscaler scales %s from zero: %t", d.name, how%2 == 0)
	}
}

func (w *world) resumeCronJob(int, int) {
	if of := w.cluster.Workloads[nightly.owner().UID]; of != nil {
		w.logf("the tenant resumes the CronJob")
		w.cluster.Scale(nightly.name, 1)
	}
}

func (w *world) changeLimit(which, how int) {
	b, ok := pick(w.budgets, which)
	if !ok || b.deleting {
		return
	}
	d := b.states[len(b.states)-1]
	d.GPUHours = []string{"0.5", "2", "50", "1000"}[how%4]
	b.states = append(b.states, d)
	state, err := w.process(w.store).Budgets().Update(context.Background(), d)
	w.logf("apply of %s with %s GPU-hours: %v", d.Object(), d.GPUHours, err)
	if err == nil {
		b.states = []budget.Declaration{state.Declaration}
	}
}

func (w *world) grant(which, how int) {
	if b, ok := pick(w.budgets, which); ok {
		length := time.Duration(1+how) * time.Hour
		_, err := w.process(w.store).Budgets().Grant(context.Background(), b.states[0].Name, "100", exception.Request{For: length, Who: "ops", Why: "a demo"})
		w.logf("grant for %s: %v", b.states[0].Name, err)
		if err == nil {
			b.granted = time.Now().Add(length)
		}
	}
}
