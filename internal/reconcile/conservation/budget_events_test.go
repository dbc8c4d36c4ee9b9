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
