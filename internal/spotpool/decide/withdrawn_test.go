package decide_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

// TestAWithdrawnNoticeIsReported: the history has its event once, and the drain says that its
// node is uncordoned.
func TestAWithdrawnNoticeIsReported(t *testing.T) {
	t.Parallel()
	s := noticed(size(1, 4), withNodes)
	p := decide.Decide(s)
	shouldDecide(t, p, "drain ins-2, the node node-ins-2")
	left := node.Progress{Cordoned: true, Observed: true, Left: 1}
	s.Journal = p.Journal.RequestDrain(p.Decisions[0], noon).RecordDrain("ins-2", left, s.Declaration.Nodes.Drain, noon)
	s = inCluster(s, nodeOf("ins-1"), nodeOf("ins-2", cordonedByPool))
	s.Now = noon.Add(30 * time.Second)
	for range 2 {
		p = decide.Decide(s)
		s.Journal = p.Journal
		shouldDecide(t, p, "uncordon ins-2, the node node-ins-2")
		if len(p.Nodes.Drains) != 1 || !strings.Contains(p.Nodes.Drains[0].Reason().String(), "was withdrawn: the next run uncordons its node node-ins-2") {
			t.Errorf("the drains are %v", p.Nodes.Drains)
		}
	}
	withdrawn := slices.DeleteFunc(slices.Clone(p.Journal.Unreported), func(e history.Event) bool { return e.Kind != history.Withdrawn })
	if len(withdrawn) != 1 || withdrawn[0].InstanceIDs[0] != "ins-2" || !withdrawn[0].Until.Equal(noon.Add(2*time.Minute)) {
		t.Errorf("the events are %+v", withdrawn)
	}
}

// TestAReclaimIsOneThatWasAnnounced: an instance that disappears after a notice was reclaimed;
// without one it may have been terminated by hand.
func TestAReclaimIsOneThatWasAnnounced(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		situation decide.Situation
		want      history.Kind
	}{
		"notice": {noticed(size(1, 4), withNodes), history.Reclaim},
		"no notice": {
			inCluster(remembered(seen(pool(size(1, 4), withNodes), instance("ins-1"), instance("ins-2"))), nodeOf("ins-1"), nodeOf("ins-2")),
			history.Lost,
		},
	} {
		s := tt.situation
		s.Journal = decide.Decide(s).Journal
		s.Observation.Instances = []spotpool.Instance{instance("ins-1")}
		s.Now = noon.Add(time.Minute)
		last := decide.Decide(s).Journal.Unreported
		if !slices.ContainsFunc(last, func(e history.Event) bool { return e.Kind == tt.want && e.InstanceIDs[0] == "ins-2" }) {
			t.Errorf("%s: the events are %+v", name, last)
		}
	}
}

// TestALaunchThatIsNotListedSaysSo: it counts as launching until the listings' lag is over.
func TestALaunchThatIsNotListedSaysSo(t *testing.T) {
	t.Parallel()
	s := seen(pool(size(1, 1)))
	request := spotpool.Request{Sequence: 1, SeqTag: 1, Count: 1, ChargeType: spotpool.Spot, Offering: s.Declaration.Offerings[0]}
	s.Journal = s.Journal.Open(launches.Launch{Request: request, WrittenAt: noon}).Accept(1, []string{"ins-1"}, noon)
	p := decide.Decide(s)
	shouldDecide(t, p)
	standings := decide.Standings(s, p)
	if len(standings) != 1 || !strings.Contains(standings[0].Why[0].String(), "no listing shows it yet: it counts as lost from 2026-03-01T12:02:00Z on") {
		t.Errorf("the standings are %+v", standings)
	}
	if p.Capacity != 1 || !p.Members[0].UnlistedUntil.Equal(noon.Add(2*time.Minute)) {
		t.Errorf("capacity %d, and the instance is %+v", p.Capacity, p.Members[0])
	}
}
