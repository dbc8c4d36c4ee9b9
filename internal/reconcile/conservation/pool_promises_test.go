package conservation_test

import (
	"context"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

func (w *world) launched(r spotpool.Request, ids []string) {
	w.logf("gpupool launched %s for %s", strings.Join(ids, ", "), r.Pool)
	p := w.poolOf(r.UID)
	if p == nil { // it is being created
		return
	}
	total, good := 0, 0
	for _, m := range w.cloud.machines {
		if strings.HasPrefix(r.ImageID, "img-bad") {
			m.bad = m.bad || contains(ids, m.ID)
		}
		if m.pool != r.UID || !m.alive() || m.released {
			continue
		}
		total++
		if n := w.cluster.behind(m); m.version == r.ConfigurationTag && !p.doubtful[m.ID] && (n == nil || n.Ready == node.ReadyTrue) &&
			(n != nil || !m.joined) {
			good++
		}
	}
	if most := p.most(func(d spotpool.Declaration) int { return d.Maximum }); total > most {
		w.violated(promiseMaximum, "%d instances of %s, and its maximum is %d", total, r.Pool, most)
	}
	if d := p.now(); d.MaxHourlyCost > 0 {
		if cost := w.cloud.cost(r.UID); cost > d.MaxHourlyCost {
			w.violated(promiseCap, "the instances of %s cost %s, and max_hourly_cost is %s", r.Pool, cost, d.MaxHourlyCost)
		}
	}
	if least := p.most(func(d spotpool.Declaration) int { return d.Minimum }); good > least {
		w.violated(promiseOnce, "%d instances of %s work or will, and its minimum is %d", good, r.Pool, least)
	}
	w.lifts(promiseUnknown, "launched for "+r.Pool, func(b *budgetState) bool { return b.states[0].Name == p.setup.Budget })
}

func contains(list []string, text string) bool {
	for _, of := range list {
		if of == text {
			return true
		}
	}
	return false
}

func (w *world) terminates(m *machine) {
	w.logf("gpupool terminated %s", m.ID)
	p := w.poolOf(m.pool)
	if m.pool == "" {
		w.violated(promiseForeign, "the foreign instance %s was terminated", m.ID)
	}
	if p == nil || !p.setup.Nodes {
		return
	}
	n := w.cluster.behind(m)
	if n == nil {
		return
	}
	w.cluster.mu.Lock()
	spent, timeout := w.cluster.drained[n.UID], time.Duration(p.now().WithDefaults().Nodes.Drain.Timeout)
	w.cluster.mu.Unlock()
	if n.Ready == node.ReadyTrue && spent < timeout && !(n.Cordoned && len(n.Pods) == 0) {
		w.violated(promiseDrained, "%s: its Node %s (%s, provider id %q, cordoned: %t) has %d pods, and was drained for %s of %s", m.ID, n.Name, n.UID,
			n.ProviderID, n.Cordoned, len(n.Pods), spent, timeout)
	}
	for _, pod := range n.Pods {
		if w.cluster.Blocked[pod.Name] && spent < timeout {
			w.violated(promiseDisruption, "%s ended the pod %s: its Node %s (%s, provider id %q, cordoned: %t) was drained for %s of %s", m.ID, pod.Name,
				n.Name, n.UID, n.ProviderID, n.Cordoned, spent, timeout)
		}
	}
	w.readyLeft(p, m, n)
}

// readyLeft checks how many Ready nodes the termination of one leaves.
func (w *world) readyLeft(p *pool, m *machine, n *reconciletest.Machine) {
	total, ready := 0, 0
	for _, other := range w.cloud.machines {
		if other.pool != p.uid() || !other.alive() {
			continue
		}
		total++
		if on := w.cluster.behind(other); other != m && on != nil && on.Ready == node.ReadyTrue {
			ready++
		}
	}
	d := p.now()
	least := min(d.Minimum, p.leastMinimum()) - d.Refresh.MaxUnavailable
	if p.deleting || n.Ready != node.ReadyTrue || p.doubtful[m.ID] || total > p.leastMaximum() || ready >= least {
		return
	}
	w.violated(promiseReadyLeft, "%s (provider id %q) was Ready, and %d Ready nodes are left of %d that must stay", m.ID, n.ProviderID, ready, least)
}

func (p *pool) leastMinimum() int {
	n := p.now().Minimum
	for _, d := range p.attempts {
		n = min(n, d.Minimum)
	}
	return n
}

func (p *pool) leastMaximum() int {
	n := p.now().Maximum
	for _, d := range p.attempts {
		n = min(n, d.Maximum)
	}
	return n
}

// changes judges that a node is marked, cordoned or deleted in a pool's name.
func (w *world) changes(n node.Node, uid, verb string) {
	p := w.poolOf(uid)
	k := w.cluster.kubelets[n.Name]
	if p == nil || k == nil || verb != "deletes" && k.machine.pool != uid {
		w.violated(promiseForeign, "pool %s %s the Node %s", uid, verb, n.Name)
	}
}

func (w *world) cordons(n node.Node, uid string) {
	p, live := w.poolOf(uid), w.cluster.Machine(n.Name)
	if p == nil || live == nil || live.Cordoned || p.deleting || len(w.cloud.of(uid)) > p.leastMaximum() {
		return
	}
	if w.suspended(p) {
		w.violated(promiseSuspended, "the Node %s (Ready: %s) is drained while many fail", n.Name, live.Ready)
	}
}

// suspended reports whether certainly so many nodes fail that nothing is replaced.
func (w *world) suspended(p *pool) bool {
	many := func(pools ...*pool) bool {
		nodes, failed := 0, 0
		for _, p := range pools {
			if !p.setup.Nodes || p.setup.ProviderID != "" || p.deleting {
				continue
			}
			for _, m := range w.cloud.of(p.uid()) {
				nodes++
				if n := w.cluster.behind(m); n != nil && strings.HasSuffix(n.ProviderID, m.ID) && n.CordonedBy == "" && n.TakenAt.IsZero() &&
					w.cluster.fails(p, n, w.cluster.surely) {
					failed++
				}
			}
		}
		return failed >= 2 && 3*failed > nodes
	}
	return many(p) || many(w.pools...)
}

// replacements finds nodes that are replaced too early, or while replacement is suspended.
func (w *world) replacements(observed) {
	for _, p := range w.pools {
		j, err := record.Load[declaration.Journal](context.Background(), w.store, store.Journals, p.now().Key()+"/"+p.uid())
		if err != nil || !p.setup.Nodes {
			continue
		}
		for _, k := range j.Value.Known {
			if k.ReplacedSince.IsZero() || p.replaced[k.InstanceID] {
				if k.ReplacedSince.IsZero() {
					delete(p.replaced, k.InstanceID)
				}
				continue
			}
			p.replaced[k.InstanceID] = true
			w.cloud.mu.Lock()
			var m *machine
			for _, of := range w.cloud.machines {
				if of.ID == k.InstanceID {
					m = of
				}
			}
			w.cloud.mu.Unlock()
			if m == nil || !m.alive() {
				continue
			}
			n := w.cluster.behind(m)
			if n == nil || n.CreatedAt.IsZero() {
				continue
			}
			if w.cluster.joined[n.UID] && !w.cluster.fails(p, n, w.cluster.unready) {
				w.violated(promisePatience, "%s: its Node %s is %s, and was observed not Ready for %s", m.ID, n.Name, n.Ready, w.cluster.unready[n.UID])
			}
			if w.suspended(p) {
				w.violated(promiseSuspended, "%s is replaced", m.ID)
			}
			p.doubtful[m.ID] = true
		}
	}
}

// suspensions finds pools that replace nothing though at most one node of the declared pools
// fails.
func (w *world) suspensions(o observed) {
	if !o.whole {
		return
	}
	declared, failed := map[string]bool{}, 0
	for _, p := range w.pools {
		if !p.setup.Nodes || p.deleting {
			continue
		}
		declared[p.uid()] = true
		for _, m := range w.cloud.of(p.uid()) {
			if n := w.cluster.behind(m); n == nil || n.Pool != p.uid() {
				failed++
			}
		}
	}
	for _, name := range w.cluster.names() {
		if n := w.cluster.Machine(name); declared[n.Pool] && n.Ready != node.ReadyTrue {
			failed++
		}
	}
	for _, r := range o.report.SpotPools {
		if r.Nodes != nil && strings.Contains(r.Nodes.ReplacingSuspended.String(), "fail at once") && failed < 2 {
			w.violated(promiseResumes, "%s: %s, and %d may fail", r.Name, r.Nodes.ReplacingSuspended, failed)
		}
	}
}

// unended finds instances of destroyed pools that stay without a reason.
func (w *world) unended(o observed) {
	for _, p := range w.pools {
		if !o.whole || !p.deleting || !p.setup.Nodes || p.setup.ProviderID != "" {
			continue
		}
		r, err := record.SpotPools(w.repository()).Load(context.Background(), p.now().Key())
		if err != nil || !r.Exists() || r.Value.Phase != declaration.Deleting || r.Value.Declaration.OnDestroy == spotpool.DestroyRetain {
			continue
		}
		for _, m := range w.cloud.of(p.uid()) {
			n := w.cluster.behind(m)
			if n == nil || n.CordonedBy != p.uid() || len(n.Pods) > 0 || m.State != spotpool.StateRunning {
				w.emptyRuns[m.ID] = 0
				continue
			}
			if w.emptyRuns[m.ID]++; w.emptyRuns[m.ID] > 1 {
				w.violated(promiseEnds, "%s stays, and its Node %s was empty in %d runs", m.ID, n.Name, w.emptyRuns[m.ID])
			}
		}
	}
}
