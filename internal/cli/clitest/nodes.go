package clitest

import (
	"fmt"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
)

// nodePool is a pool of running instances that become nodes, as a look at it shows.
type nodePool struct {
	name      string
	instances int
	maximum   int
	ready     map[int]func(*node.Node) // those that were Ready nodes an hour ago, and are nodes now
	away      bool                     // the cluster is not seen
	drained   *node.Progress           // what was seen of the first drain that is decided, four minutes ago
	plain     bool                     // it has no nodes
}

// keepNode changes nothing.
func keepNode(*node.Node) {}

// PoolsWithNodes returns pools with nodes in each state: InSync, draining, joining and
// failing, with suspended replacement, unobserved, and with an interruption notice. The last
// pool has no nodes.
func PoolsWithNodes(t *testing.T) []spotpools.Description {
	t.Helper()
	notReady := func(since time.Duration) func(*node.Node) {
		return func(n *node.Node) { n.Ready, n.ReadySince = node.ReadyUnknown, At.Add(-since) }
	}
	noticed := func(n *node.Node) { n.TakenAt = At.Add(90 * time.Second) }
	return []spotpools.Description{
		nodePool{name: "a-calm", instances: 2, maximum: 3, ready: map[int]func(*node.Node){1: keepNode, 2: keepNode}}.explain(t),
		nodePool{
			name: "b-draining", instances: 3, maximum: 2, ready: map[int]func(*node.Node){1: keepNode, 2: keepNode, 3: keepNode},
			drained: &node.Progress{
				Cordoned: true, Observed: true, Left: 2,
				Blocked: []string{"ml/train-0 is protected from eviction", "ml/notebook has no controller that would create it again"},
			},
		}.explain(t),
		nodePool{
			name: "c-failing", instances: 5, maximum: 6, ready: map[int]func(*node.Node){1: keepNode, 2: keepNode, 3: keepNode, 4: notReady(12 * time.Minute)},
		}.explain(t),
		nodePool{name: "d-suspended", instances: 2, maximum: 3, ready: map[int]func(*node.Node){1: notReady(time.Hour), 2: notReady(time.Hour)}}.explain(t),
		nodePool{name: "e-unseen", instances: 2, maximum: 3, away: true, ready: map[int]func(*node.Node){1: keepNode, 2: keepNode}}.explain(t),
		nodePool{name: "g-noticed", instances: 2, maximum: 3, ready: map[int]func(*node.Node){1: keepNode, 2: noticed}}.explain(t),
		nodePool{name: "f-plain", instances: 2, maximum: 3, plain: true}.explain(t),
	}
}

// GuideNodes is the pool of the guide about nodes: one that drains.
func GuideNodes(t *testing.T) spotpools.Description {
	t.Helper()
	return nodePool{
		name: "train", instances: 3, maximum: 2, ready: map[int]func(*node.Node){1: keepNode, 2: keepNode, 3: keepNode},
		drained: &node.Progress{Cordoned: true, Observed: true, Left: 1, Blocked: []string{"ml/train-0 is protected from eviction"}},
	}.explain(t)
}

func (p nodePool) declaration() spotpool.Declaration {
	d := spotpool.Declaration{
		Name: p.name, Region: "ap-singapore", UID: "u-" + p.name, AccountID: "1", Currency: currency,
		Minimum: min(p.instances, p.maximum), Maximum: p.maximum,
		Offerings: []spotpool.Offering{{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32"}},
	}
	if !p.plain {
		d.Nodes, d.ClusterUID = &spotpool.Nodes{}, "c1"
	}
	return d.WithDefaults()
}

// situation is that of the pool at a moment; before are looks that it remembers.
func (p nodePool) situation(at time.Time, change bool, before journal.Journal) decide.Situation {
	d := p.declaration()
	s := decide.Situation{Declaration: d, Now: at, Journal: before, Observation: spotpool.Observation{At: at, Region: d.Region, AccountID: "1"}}
	s.Journal.Salt = "5a17"
	if !p.plain && !(p.away && change) {
		s.Observation.Cluster = node.Observation{ClusterUID: "c1", At: at, Pods: true}
	}
	for n := 1; n <= p.instances; n++ {
		id := fmt.Sprintf("ins-%s%06d", p.name[:1], n)
		launched := At.Add(-3 * time.Hour)
		alter, joined := p.ready[n]
		if !joined {
			launched = At.Add(-4 * time.Minute)
		}
		if !joined && !change && !p.plain {
			continue
		}
		s.Observation.Instances = append(s.Observation.Instances, spotpool.Instance{
			ID: id, Region: d.Region, AccountID: "1", PoolUID: d.UID, PoolName: d.Name, AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32",
			ChargeType: spotpool.Spot, State: spotpool.StateRunning, LaunchedAt: launched, PrivateIP: fmt.Sprintf("10.0.0.%d", n),
		})
		if !joined || !s.Observation.Cluster.Observed() {
			continue
		}
		seen := node.Node{
			Name: fmt.Sprintf("10.0.0.%d", n), UID: "n-" + id, ProviderID: "qcloud:///200002/" + id, CreatedAt: launched, Ready: node.ReadyTrue,
			ReadySince: launched, Pool: d.UID, GPUPods: n % 3,
		}
		if change {
			alter(&seen)
		}
		s.Observation.Cluster.Nodes = append(s.Observation.Cluster.Nodes, seen)
	}
	return s
}

// observedJournal returns the journal after an observation in each minute of an hour. Only
// its knowledge of nodes changes after the first observation.
func (p nodePool) observedJournal() journal.Journal {
	j := decide.Decide(p.situation(At.Add(-time.Hour), false, journal.Journal{})).Journal
	for at := At.Add(-time.Hour); at.Before(At); at = at.Add(time.Minute) {
		s := p.situation(at, true, j)
		for n := range s.Observation.Cluster.Nodes {
			if of := &s.Observation.Cluster.Nodes[n]; of.ReadySince.After(at) {
				of.Ready = node.ReadyTrue
			}
		}
		for _, k := range decide.Decide(s).Journal.Known {
			for n := range j.Known {
				if j.Known[n].InstanceID == k.InstanceID {
					j.Known[n].Node = k.Node
				}
			}
		}
	}
	return j
}

func (p nodePool) explain(t *testing.T) spotpools.Description {
	t.Helper()
	s := p.situation(At, true, p.observedJournal())
	plan := decide.Decide(s)
	if p.drained != nil {
		if len(plan.Decisions) == 0 || plan.Decisions[0].Kind != spotpool.KindDrain {
			t.Fatalf("%s drains nothing: %v", p.name, plan.Decisions)
		}
		d, then := plan.Decisions[0], At.Add(-4*time.Minute)
		s.Journal = plan.Journal.RequestDrain(d, then).RecordDrain(d.InstanceIDs[0], *p.drained, s.Declaration.Nodes.Drain, then)
		plan = decide.Decide(s)
	}
	report := spotpools.Report{
		Name: p.name, Region: s.Declaration.Region, UID: s.Declaration.UID, Bounds: plan.Bounds, Currency: plan.Currency, Observed: true,
		Counts: &plan.Counts, Nodes: plan.Nodes, Outcome: outcome.Done, Short: plan.Short.Brief().Texts(), ShortReasons: plan.Short, Messages: plan.Messages,
		Warnings: plan.Warnings,
	}
	if p.away {
		report.Outcome, report.Error = outcome.Failed, &outcome.ErrorReport{
			Class: "transient", Message: "the cluster cannot be reached: cannot list nodes: connection refused",
			Remedy: "check the address of the API server, and that it can be reached from here",
		}
	}
	return spotpools.Description{
		Report: report, Phase: declaration.Active, Decisions: plan.Decisions, Machines: plan.Members, Why: &spotpools.Why{
			Declared:  spotpools.Declared{AllocationStrategy: s.Declaration.AllocationStrategy, MaxLaunchesPerRun: s.Declaration.MaxLaunchesPerRun},
			Standings: decide.Standings(s, plan),
		},
	}
}
