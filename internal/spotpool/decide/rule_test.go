package decide_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// TestNoRuleChangesItsInput plays pools without nodes, and pools whose nodes fail, are
// drained and carry interruption notices, so that every rule has something to decide.
func TestNoRuleChangesItsInput(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := situations().Draw(t, "situation")
		if rapid.Bool().Draw(t, "nodes") {
			s = inUnhealthyCluster(t, s)
		}
		untouched := deepCopy(s)
		untouched.Observation.Cluster.Nodes = slices.Clone(s.Observation.Cluster.Nodes)
		if changed := decide.ChangedByRule(s, untouched); changed != "" {
			t.Fatal(changed)
		}
	})
}

// inUnhealthyCluster is the situation of a pool with nodes.
func inUnhealthyCluster(t *rapid.T, s decide.Situation) decide.Situation {
	s.Declaration.Nodes, s.Declaration.ClusterUID = &spotpool.Nodes{MaxReplacementsPerRun: 2}, clusterUID
	s.Declaration = s.Declaration.WithDefaults()
	var nodes []node.Node
	for _, i := range s.Observation.Instances {
		n := nodeOf(i.ID)
		switch rapid.IntRange(0, 4).Draw(t, "node") {
		case 0:
			n.TakenAt = s.Now.Add(node.NoticeAhead)
		case 1:
			n.Cordoned, n.CordonedBy = true, uid
		case 2:
			notReady(20 * time.Minute)(&n)
		case 3:
			continue
		}
		nodes = append(nodes, n)
	}
	return inCluster(s, nodes...)
}
