package conservation_test

import (
	"context"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// quiet has nothing happen for long enough that a surplus is gone: surplus_after, the drain,
// and what a notice and a few runs take.
func (w *world) quiet(int, int) {
	for range 22 {
		w.pass(5 * time.Minute)
		w.run(faults.Fault{})
	}
	for _, p := range w.pools {
		most := 0 // that was ever asked for: what is there for that stays
		for _, d := range append(p.states, p.attempts...) {
			most = max(most, d.Minimum)
		}
		ready := 0
		for _, m := range w.cloud.of(p.uid()) {
			n := w.cluster.behind(m)
			if n != nil && strings.HasSuffix(n.ProviderID, m.ID) && n.Ready == node.ReadyTrue && !n.Cordoned && !m.bad { // a bad one fails again
				ready++
			}
		}
		if p.setup.Nodes && p.setup.ProviderID == "" && !p.deleting && ready > most {
			w.violated(promiseSurplus, "%s has %d Ready nodes, and at most %d were asked for", p.now().Key(), ready, most)
		}
	}
	w.logf("it was quiet")
}

// giveUpNodes takes nodes out of a pool, perhaps while the API server is away, and destroys
// it without its instances.
func (w *world) giveUpNodes(which, how int) {
	p, ok := pick(w.pools, which)
	if !ok || p.deleting {
		return
	}
	w.cluster.away = how%2 == 0
	p.setup.Nodes = false // what ends is not drained from now on
	w.apply(p, "without nodes", func(d *spotpool.Declaration) { d.Nodes, d.OnDestroy = nil, spotpool.DestroyRetain })
	if p.now().Nodes == nil {
		w.destroy(which, 0)
	}
}

// leftCordoned finds nodes that a deleted pool left cordoned or marked.
func (w *world) leftCordoned(observed) {
	for _, p := range w.pools {
		r, err := record.SpotPools(w.repository()).Load(context.Background(), p.now().Key())
		if err != nil || r.Exists() || !p.deleting || w.lost.Kind == store.SpotPools || w.lost.Kind == store.Journals {
			continue
		}
		for _, name := range w.cluster.names() {
			if n, k := w.cluster.Machine(name), w.cluster.kubelets[name]; n.CordonedBy == p.uid() && k != nil && k.machine.alive() {
				w.violated(promiseCordons, "%s is gone, and the Node %s of %s is cordoned by it", p.now().Key(), name, k.machine.ID)
			}
		}
	}
}
