package node_test

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

func TestANoticeIsInForceAroundItsTime(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]bool{
		-5 * time.Minute: false, -5*time.Minute + time.Second: true, 0: true, 2 * time.Minute: true, 7 * time.Minute: true, 8 * time.Minute: false,
	} {
		n := node.Node{TakenAt: noon.Add(after)}
		if got := n.ReclaimAt(noon); got.IsZero() == want || want && !got.Equal(n.TakenAt) {
			t.Errorf("a notice of %s from now gives %s", after, got)
		}
	}
	if at := (node.Node{}).ReclaimAt(time.Time{}); !at.IsZero() {
		t.Errorf("no notice gives %s", at)
	}
}

// TestADrainForANoticeLastsUntilThen ends with the drain's timeout or the instance,
// whichever comes first, and never in a keep.
func TestADrainForANoticeLastsUntilThen(t *testing.T) {
	t.Parallel()
	left := node.Progress{Cordoned: true, Observed: true, Left: 1}
	for _, on := range []node.OnTimeout{node.Terminate, node.Keep} {
		d := node.Drain{Phase: node.Asked, TakenAt: noon.Add(2 * time.Minute)}.After(left, 10*time.Minute, on, noon)
		if d.Phase != node.Draining {
			t.Fatalf("begun, it is %s", d.Progress())
		}
		if early := d.After(left, time.Minute, on, noon.Add(time.Minute)); early.Phase != node.TimedOut {
			t.Errorf("after the drain's own timeout it is %s", early.Progress())
		}
		d = d.After(left, 10*time.Minute, on, noon.Add(2*time.Minute))
		if d.Phase != node.TimedOut || d.Ends() || !d.Over() || !d.Open() || d.Rests(noon.Add(3*time.Minute)) {
			t.Errorf("%s: when the instance is taken it is %+v", on, d)
		}
	}
}
