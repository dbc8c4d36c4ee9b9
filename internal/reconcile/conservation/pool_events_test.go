package conservation_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// apply updates a spot pool, as terraform apply does by the latest state.
func (w *world) apply(p *pool, why string, change func(*spotpool.Declaration)) {
	d := p.now()
	change(&d)
	d = d.WithDefaults()
	p.attempts = append(p.attempts, d)
	w.logf("apply of %s: %s", d.Key(), why)
	state, err := w.process(w.store).SpotPools().Update(context.Background(), d, 5*time.Second)
	if err != nil {
		w.logf("apply of %s: %v", d.Key(), err)
	}
	if state.Declaration.UID != "" && err == nil {
		p.states, p.attempts = append(p.states, state.Declaration), nil
	}
}

// prices changes that of a zone, which may then be listed without one, or not at all.
func (w *world) prices(which, how int) {
	zone, _ := pick(zones, which)
	w.cloud.mu.Lock()
	defer w.cloud.mu.Unlock()
	switch how % 5 {
	case 0:
		delete(w.cloud.listed, zone)
	case 1:
		w.cloud.listed[zone] = 0
	default:
		w.cloud.listed[zone] = price * spotpool.Price(how%5) / 2
		w.cloud.known[zone] = w.cloud.listed[zone]
	}
	w.logf("in %s an instance costs %s (listed: %v)", zone, w.cloud.known[zone], w.cloud.listed)
}

func (w *world) size(which, how int) {
	p, ok := pick(w.pools, which)
	if !ok || p.deleting {
		return
	}
	w.apply(p, "size", func(d *spotpool.Declaration) {
		d.Minimum = how % 4
		d.Maximum = max(1, d.Minimum+which%3)
		if how%5 == 4 {
			d.Maximum = max(1, d.Minimum)
		}
		if d.Refresh.Strategy == spotpool.RefreshRolling && d.Refresh.MaxUnavailable == 0 {
			d.Maximum = max(d.Maximum, d.Minimum+1)
		}
	})
}

func (w *world) image(which, how int) {
	p, ok := pick(w.pools, which)
	if !ok || p.deleting {
		return
	}
	w.apply(p, "image", func(d *spotpool.Declaration) {
		d.ImageID = fmt.Sprintf("img-%s%04d", []string{"bad0", "good"}[how%2], len(p.states))
	})
}

func (w *world) destroy(which, _ int) {
	if p, ok := pick(w.pools, which); ok {
		p.deleting = true
		_, err := w.process(w.store).SpotPools().Delete(context.Background(), p.now(), 20*time.Second)
		p.deleting = err == nil || w.phase(p) != declaration.Active
		w.logf("destroy of %s: %v", p.now().Key(), err)
	}
}

// detach destroys a pool that leaves its instances running. Their kubelets then stop, and
// so does one of each other pool.
func (w *world) detach(which, _ int) {
	p, ok := pick(w.pools, which)
	if !ok || p.deleting || len(w.pools) < 2 {
		return
	}
	failing := w.cloud.of(p.uid())
	w.apply(p, "detach", func(d *spotpool.Declaration) { d.OnDestroy = spotpool.DestroyRetain })
	w.destroy(which, 0)
	for _, other := range w.pools {
		if own := w.cloud.of(other.uid()); other != p && len(own) > 0 {
			other.doubtful[own[0].ID] = true
			failing = append(failing, own[0])
		}
	}
	for _, m := range failing {
		w.cluster.sick[m.ID] = true
	}
}

func (w *world) phase(p *pool) declaration.Phase {
	r, _ := record.SpotPools(w.repository()).Load(context.Background(), p.now().Key())
	return r.Value.Phase
}

func (w *world) protect(which, how int) {
	p, ok := pick(w.pools, which)
	if !ok || p.deleting {
		return
	}
	w.apply(p, "protection", func(d *spotpool.Declaration) {
		switch how % 3 {
		case 0:
			d.DeletionProtection = true
		case 1:
			d.OnDestroy = spotpool.DestroyRetain
		default:
			d.DeletionProtection, d.OnDestroy = false, ""
		}
	})
}

func (w *world) staleDestroy(which, how int) {
	p, ok := pick(w.pools, which)
	if !ok || len(p.states) < 2 {
		return
	}
	stale, _ := pick(p.states[:len(p.states)-1], how)
	before, err := record.SpotPools(w.repository()).Load(context.Background(), stale.Key())
	if err != nil || !before.Exists() || before.Value.Phase != declaration.Active {
		return
	}
	running, ending := len(w.cloud.of(p.uid())), w.terminated(p)
	p.deleting = true
	_, err = w.process(w.store).SpotPools().Delete(context.Background(), stale, 20*time.Second)
	w.logf("destroy of %s by a state of generation %d: %v", stale.Key(), stale.Generation, err)
	phase := w.phase(p)
	p.deleting = err == nil || phase != declaration.Active
	was := before.Value.Declaration
	switch left := len(w.cloud.of(p.uid())); {
	case was.Generation == stale.Generation:
	case was.DeletionProtection && phase != declaration.Active:
		w.violated(promiseNewer, "%s has deletion_protection by generation %d, and was destroyed by one of generation %d", was.Key(), was.Generation,
			stale.Generation)
	case was.OnDestroy == spotpool.DestroyRetain && left < running && w.terminated(p) > ending:
		w.violated(promiseNewer, "%s detaches by generation %d, and %d of its instances were terminated by one of generation %d", was.Key(), was.Generation,
			w.terminated(p), stale.Generation)
	}
}

func (w *world) terminated(p *pool) (n int) {
	w.cloud.mu.Lock()
	defer w.cloud.mu.Unlock()
	for _, m := range w.cloud.machines {
		if m.pool == p.uid() && !m.alive() {
			n++
		}
	}
	return n
}

// staleUpdate applies an older state, with protection as it was then.
func (w *world) staleUpdate(which, how int) {
	p, ok := pick(w.pools, which)
	if !ok || len(p.states) < 2 || p.deleting {
		return
	}
	stale, _ := pick(p.states[:len(p.states)-1], how)
	before := p.now()
	stale.Minimum = max(stale.Minimum-1, 0)
	p.attempts = append(p.attempts, stale)
	_, err := w.process(w.store).SpotPools().Update(context.Background(), stale, 5*time.Second)
	w.logf("apply of %s by a state of generation %d: %v", stale.Key(), stale.Generation, err)
	after, failed := record.SpotPools(w.repository()).Load(context.Background(), stale.Key())
	if failed == nil && after.Exists() && before.DeletionProtection && !after.Value.Declaration.DeletionProtection && stale.Generation < before.Generation &&
		w.lost.Kind != store.SpotPools {
		w.violated(promiseNewer, "%s lost deletion_protection to a state of generation %d", stale.Key(), stale.Generation)
	}
}

// destroyElsewhere destroys by a store that does not know the object.
func (w *world) destroyElsewhere(which, how int) {
	process := w.process(w.other)
	var what string
	var err error
	switch how % 3 {
	case 0:
		p, ok := pick(w.pools, which)
		if !ok || p.deleting {
			return
		}
		p.deleting = true
		what = p.now().Object()
		_, err = process.SpotPools().Delete(context.Background(), p.now(), 20*time.Second)
		p.deleting = false
	case 1:
		s, ok := pick(w.stock, which)
		if !ok || s.deleting {
			return
		}
		what = s.now().Object()
		_, err = process.StockPools().Delete(context.Background(), s.now(), 20*time.Second)
	default:
		b, ok := pick(w.budgets, which)
		if !ok || b.deleting {
			return
		}
		what = b.states[0].Object()
		_, err = process.Budgets().Delete(context.Background(), b.states[len(b.states)-1])
	}
	w.logf("destroy of %s in another store: %v", what, err)
	if err == nil {
		w.violated(promiseStore, "%s", what)
	}
}

func (w *world) hold(which, how int) {
	if p, ok := pick(w.pools, which); ok {
		_, err := w.process(w.store).SpotPools().Hold(context.Background(), p.now().Key(),
			exception.Request{For: time.Duration(1+how) * time.Hour, Who: "ops", Why: "maintenance"})
		w.logf("hold of %s: %v", p.now().Key(), err)
	}
}
