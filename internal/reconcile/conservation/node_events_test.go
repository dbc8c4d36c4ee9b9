package conservation_test

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

func (w *world) machineOf(which int) (p *pool, m *machine) {
	type owned struct {
		p *pool
		m *machine
	}
	var all []owned
	for _, p := range w.pools {
		for _, m := range w.cloud.of(p.uid()) {
			all = append(all, owned{p, m})
		}
	}
	of, _ := pick(all, which)
	if of.p != nil {
		of.p.doubtful[of.m.ID] = true
	}
	return of.p, of.m
}

func (w *world) reclaim(which, _ int) {
	if _, m := w.machineOf(which); m != nil {
		w.logf("Tencent Cloud reclaims %s (%s)", m.ID, hostName(m))
		w.cloud.reclaim(m)
	}
}

func (w *world) readiness(which, how int) {
	if _, m := w.machineOf(which); m != nil {
		w.cluster.sick[m.ID] = how%3 != 2
		w.logf("the kubelet of %s stops: %t", m.ID, w.cluster.sick[m.ID])
	}
}

// manyFail has some nodes of each pool fail, and the others recover.
func (w *world) manyFail(_, how int) {
	for _, p := range w.pools {
		for n, m := range w.cloud.of(p.uid()) {
			p.doubtful[m.ID] = true
			w.cluster.sick[m.ID] = n < how%3
		}
	}
	w.logf("%d nodes of each pool fail", how%3)
}

// notice is an interruption notice: a real one, one that is not taken, one that the node
// renews, or one that it withdraws.
func (w *world) notice(which, how int) {
	_, m := w.machineOf(which)
	if m == nil || w.cluster.behind(m) == nil {
		return
	}
	at := time.Now().Add(2 * time.Minute).UTC()
	switch how % 4 {
	case 0:
		w.cluster.announce(m, at)
	case 1, 2:
		how = 2
		w.cluster.renewed[m.ID] = which%4 > 0
	case 3:
		at, w.cluster.renewed[m.ID] = time.Time{}, false
	}
	w.logf("a notice of %s: %s (renewed: %t)", m.ID, []string{"real", "", "not taken", "withdrawn"}[how%4], w.cluster.renewed[m.ID])
	w.cluster.Change(hostName(m), func(n *reconciletest.Machine) { n.TakenAt = at })
}

// remake deletes a Node, which its kubelet registers again with new pods, perhaps cordoned by a
// person. It prefers a node that is being drained.
func (w *world) remake(which, how int) {
	names := w.cluster.names()
	slices.SortStableFunc(names, func(a, b string) int {
		return first(w.cluster.Machine(a).CordonedBy != "", w.cluster.Machine(b).CordonedBy != "")
	})
	name, ok := pick(names, which/2)
	if k := w.cluster.kubelets[name]; ok && k != nil && w.cluster.works(name) {
		w.cluster.RemoveNode(name)
		p := w.poolOf(k.machine.pool)
		p.doubtful[k.machine.ID] = true
		w.cluster.create(p, k.machine)
		w.cluster.Change(name, func(n *reconciletest.Machine) { n.Cordoned = how%2 == 0 })
		w.logf("the Node %s was deleted and made again as %s", name, w.cluster.Machine(name).UID)
	}
}

func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func (w *world) deleteNode(which, _ int) {
	if name, ok := pick(w.cluster.names(), which); ok {
		if k := w.cluster.kubelets[name]; k != nil {
			if p := w.poolOf(k.machine.pool); p != nil {
				p.doubtful[k.machine.ID] = true
			}
		}
		w.logf("a person deletes the Node %s", name)
		w.cluster.RemoveNode(name)
	}
}

// apiServer has the API server be away until the next event.
func (w *world) apiServer(int, int) {
	w.cluster.away = true
	w.logf("the API server is away")
}
