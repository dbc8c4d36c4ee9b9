package days

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// leftNodesGo is after how long the cluster's own controllers remove the node of a
// machine that is gone.
const leftNodesGo = 10 * time.Minute

func (s *stage) play(strategy strategy) {
	next := 0
	for s.now < aDay {
		s.now += tick
		s.world.Step(tick)
		s.cluster.Step(tick)
		s.look()
		for ; next < len(s.day.events) && s.day.events[next].at <= s.now; next++ {
			s.day.events[next].do(s)
			s.look() // what was taken at once
		}
		if s.now%runEvery == 0 {
			s.run(strategy)
		}
		for _, p := range s.pools {
			s.goOn(p)
			s.measure(p)
		}
	}
	s.verifyStrangers()
}

// run has a strategy maintain the pools, unless this run is missed, and compares the result
// with what there was to do.
func (s *stage) run(strategy strategy) {
	if s.day.missed[s.now] {
		s.counts["runs missed"]++
		return
	}
	s.counts["runs"]++
	needs := make([]int, len(s.pools))
	before := make([]int, len(s.pools))
	for n, p := range s.pools {
		for _, m := range p.machines {
			if m.seen.IsZero() && !m.runs.IsZero() {
				m.seen = s.clock()
			}
		}
		needs[n], before[n] = s.need(p), p.launched
	}
	strategy.maintain(s)
	s.look()
	for n, p := range s.pools {
		launched := p.launched - before[n]
		p.figures.launches += launched
		p.figures.twice += max(0, launched-max(0, needs[n]))
		if launched > 0 && len(p.machines) > p.Maximum {
			p.figures.above++
		}
		s.settle(p)
	}
}

// need is how many machines a pool lacks: what works or will soon, and is to stay, is
// not lacking.
func (s *stage) need(p *pool) int {
	good := 0
	for _, m := range p.machines {
		if !s.failed(m) && !m.taken && m.ImageID == p.ImageID {
			good++
		}
	}
	return p.Minimum - good
}

// failed reports whether a machine that never joined, or whose node failed, is due for
// replacement. Both strategies use gpupool's defaults.
func (s *stage) failed(m *machine) bool {
	switch {
	case m.seen.IsZero():
		return false
	case m.node == "":
		return s.clock().Sub(m.seen) >= time.Duration(spotpool.DefaultJoinTimeout)
	}
	return !m.unready.IsZero() && s.clock().Sub(m.unready) >= time.Duration(spotpool.DefaultUnhealthyTimeout)
}

// look updates the machines and their nodes from the local CVM.
func (s *stage) look() {
	there, list := map[string]bool{}, s.world.Sim.Server.Instances()
	for _, i := range list {
		there[i.InstanceID] = i.State != "TERMINATING" && i.State != "LAUNCH_FAILED" && i.State != "SHUTDOWN"
	}
	for _, p := range s.pools {
		for _, m := range p.sorted() {
			if !there[m.InstanceID] {
				s.ended(p, m)
			}
		}
	}
	for _, i := range list {
		at := slices.IndexFunc(s.pools, func(p *pool) bool { return p.UID == i.UID })
		if there[i.InstanceID] && at >= 0 {
			s.seen(s.pools[at], i)
		}
	}
	s.dropNodes()
}

// seen updates a machine, and lets it join when its time has come.
func (s *stage) seen(p *pool, i cvmsim.Instance) {
	m := p.machines[i.InstanceID]
	if m == nil {
		p.launched++
		m = &machine{n: p.launched}
		m.joins, m.ever = s.day.joining(p.Name, s.now, p.launchedAt(s.now))
		p.machines[i.InstanceID] = m
		if !m.ever {
			s.counts["joins that fail"]++
		}
	}
	m.Instance = i
	if i.State == "RUNNING" && m.runs.IsZero() {
		m.runs = s.clock()
	}
	switch {
	case m.node == "" && m.ever && !m.runs.IsZero() && s.clock().Sub(m.runs) >= m.joins:
		m.node = s.cluster.Join(i.InstanceID)
		if i.ReclaimAt != nil {
			s.cluster.Change(m.node, func(n *reconciletest.Machine) { n.TakenAt = *i.ReclaimAt })
		}
	case m.node != "" && !m.unready.IsZero() && s.now >= m.until:
		m.unready = time.Time{}
		s.cluster.Change(m.node, func(n *reconciletest.Machine) { n.Ready, n.ReadySince = node.ReadyTrue, s.clock() })
	}
}

// ended records that a machine is gone, with what ran on it: a job with a controller starts
// again.
func (s *stage) ended(p *pool, m *machine) {
	delete(p.machines, m.InstanceID)
	s.settleMachine(p, m)
	if j := m.job; j != nil {
		p.figures.lost += j.progress
		p.figures.killed++
		if j.progress = 0; j.pod.Controller != "" {
			p.queue = append(p.queue, j)
		}
	}
	if m.node != "" && s.cluster.Machine(m.node) != nil {
		s.cluster.Change(m.node, func(n *reconciletest.Machine) {
			n.Ready, n.ReadySince, n.Pods = node.ReadyUnknown, s.clock(), nil
		})
	}
}

// dropNodes removes nodes of machines that are gone for a while.
func (s *stage) dropNodes() {
	own := map[string]bool{"strange-1": true, "strange-2": true, "strange-3": true}
	for _, p := range s.pools {
		for _, m := range p.machines {
			own[m.node] = true
		}
	}
	for name, n := range s.cluster.Machines {
		if !own[name] && s.clock().Sub(n.ReadySince) >= leftNodesGo {
			s.cluster.RemoveNode(name)
		}
	}
}

func (s *stage) settle(p *pool) {
	for _, m := range p.sorted() {
		s.settleMachine(p, m)
	}
}

// settleMachine lets a job whose pod was evicted wait for another place. It resumes there.
func (s *stage) settleMachine(p *pool, m *machine) {
	if m.job == nil || m.node == "" {
		return
	}
	n := s.cluster.Machine(m.node)
	if n != nil && slices.ContainsFunc(n.Pods, func(p node.Pod) bool { return p.UID == m.job.pod.UID }) {
		return
	}
	j := m.job
	m.job = nil
	p.figures.moved++
	if j.pod.Protected || j.pod.Controller == "" {
		s.t.Errorf("%s at %s: the pod %s was evicted without permission", p.Name, s.now, j.pod.Name)
	}
	p.queue = append([]*job{j}, p.queue...)
}

// goOn has the jobs of a pool go on, end, and begin where there is room.
func (s *stage) goOn(p *pool) {
	for _, m := range p.sorted() {
		if m.node == "" || !m.unready.IsZero() {
			continue
		}
		if m.job != nil {
			if m.job.progress += tick; m.job.progress >= m.job.lasts {
				m.job = nil
				s.cluster.Change(m.node, func(n *reconciletest.Machine) { n.Pods = nil })
			}
		}
		if m.job == nil && !s.cluster.Machine(m.node).Cordoned {
			m.job = s.nextJob(p)
			s.cluster.Change(m.node, func(n *reconciletest.Machine) { n.Pods = []node.Pod{m.job.pod} })
		}
	}
}

// nextJob is what waits for the longest, or something new.
func (s *stage) nextJob(p *pool) *job {
	if len(p.queue) > 0 {
		j := p.queue[0]
		p.queue = p.queue[1:]
		return j
	}
	p.given++
	return s.day.work(p.Name, p.given)
}

func (s *stage) verifyStrangers() {
	there := map[string]string{}
	for _, i := range s.world.Sim.Server.Instances() {
		there[i.InstanceID] = i.State
	}
	touched := 0
	for _, id := range s.strange {
		if there[id] != "RUNNING" {
			touched++
		}
	}
	for _, name := range []string{"strange-1", "strange-2", "strange-3"} {
		n := s.cluster.Machine(name)
		if n == nil || n.Cordoned || n.Pool != "" || n.CordonedBy != "" || name != "strange-3" && len(n.Pods) != 1 {
			touched++
		}
	}
	s.pools[0].figures.strangers += touched
}

// launchedAt counts the machines that were launched at a time, this one among them.
func (p *pool) launchedAt(at time.Duration) int {
	if p.latest.at != at {
		p.latest.at, p.latest.count = at, 0
	}
	p.latest.count++
	return p.latest.count
}
