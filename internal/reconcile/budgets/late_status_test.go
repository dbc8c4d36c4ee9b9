package budgets_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// TestAKubeletErasesNoHours: hours that runs recorded stay, whatever the pod's status says later,
// and a run warns if its times contradict them.
func TestAKubeletErasesNoHours(t *testing.T) {
	t.Parallel()
	for source, want := range map[ledger.Source]struct {
		warned bool
		hours  float64
	}{
		ledger.ContainerFinished: {true, 8 - 8*10./3600}, // a status may be ten seconds late
		ledger.Rejected:          {false, 8},
	} {
		for _, deleted := range []bool{false, true} {
			d, uid := watched(t)
			d.Cluster.Step(time.Hour)
			d.Run()
			d.Cluster.Step(time.Minute)
			s := *d.Cluster.Pods[uid]
			s.End, s.Phase = ledger.ExactEnd(s.Scheduled.At, source), "Succeeded"
			if deleted {
				d.Cluster.Remove(uid)
				d.Cluster.History = d.Cluster.History[:len(d.Cluster.History)-1]
			} else {
				d.Cluster.Pods[uid] = &s
			}
			d.Cluster.Changed(s, deleted)
			r := d.Run()
			if got, err := strconv.ParseFloat(r.Budgets[0].ConsumedGPUHours, 64); err != nil || got < want.hours-0.001 {
				t.Errorf("%s, deleted %v: %v GPU-hours are left (%v)", source, deleted, got, err)
			}
			if slices.ContainsFunc(r.Warnings.Texts(), func(w string) bool {
				return strings.Contains(w, "the pod ml/a: the kubelet of its node node-1 reports that it ended at") && strings.Contains(w, "these are kept")
			}) != want.warned {
				t.Errorf("%s, deleted %v: the warnings are %q", source, deleted, r.Warnings)
			}
		}
	}
}
