package ledger_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// certain returns how long a pod certainly held its GPUs until a moment.
func certain(r *ledger.Record, now ledger.Time) ledger.Time {
	if r.Open() {
		return now - r.Start.At
	}
	return r.End.Earliest - r.Start.At
}

// reported are the ends that a pod's status can claim.
var reported = []ledger.Source{
	ledger.Rejected, ledger.ContainerFinished, ledger.DisruptionTarget, ledger.NotReady, ledger.StatusWritten, ledger.DeletionTimestamp, ledger.SeenTerminal,
}

// TestNoStatusErasesWhatRunsRecorded has a kubelet report anything after runs observed its pod:
// later starts, ends at any time, and pods that hold GPUs again. What was certain once never falls by
// more than the ten seconds by which a status may be late.
func TestNoStatusErasesWhatRunsRecorded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := ledger.New(cluster)
		now, most := noon, ledger.Time(0)
		for range rapid.IntRange(2, 12).Draw(t, "runs") {
			now += ledger.Time(rapid.IntRange(1, 40).Draw(t, "pause")) * minute
			r := pod(1, noon+ledger.Time(rapid.IntRange(-2, 1).Draw(t, "start"))*minute)
			r.Seen = now
			r.Runs = ledger.Start{}
			if rapid.Bool().Draw(t, "runs") {
				r.Runs = ledger.Start{At: min(now, r.Start.At+ledger.Time(rapid.IntRange(0, 90).Draw(t, "running"))*minute), Source: ledger.ContainerStarted}
			}
			switch at := min(now, r.Start.At+ledger.Time(rapid.IntRange(0, 300).Draw(t, "end"))*minute); rapid.IntRange(0, 3).Draw(t, "status") {
			case 0:
				l.CloseVanished(none, nil, l.Header.LastRun, now)
			case 1:
				source := rapid.SampledFrom(reported).Draw(t, "source")
				switch source {
				case ledger.Rejected:
					at = r.Start.At
				case ledger.SeenTerminal:
					at = now
				}
				r = ended(r, at, source)
				fallthrough
			default:
				observe(t, l, r)
			}
			l.Header.LastRun = now
			got, known := l.Get(uid(1))
			if !known {
				continue
			}
			after := certain(&got, now)
			if after < most-10*second {
				t.Fatalf("%d ms are certain at %d, and %d were: %+v to %+v", after, now-noon, most, got.Start, got.End)
			}
			most = max(most, after)
		}
	})
}

// TestAnEndBeforeARunThatObservedThePod is at most ten seconds before that run, and a contradiction if it
// is long before.
func TestAnEndBeforeARunThatObservedThePod(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		at, want      ledger.Time
		contradiction ledger.Time
	}{
		{"at the pod's creation", noon, noon + hour - 10*second, noon + hour},
		{"long before the run", noon + 30*minute, noon + hour - 10*second, noon + hour},
		{"a busy kubelet's late status", noon + hour - 10*second, noon + hour - 10*second, 0},
		{"reported a moment late", noon + hour - 2*second, noon + hour - 2*second, 0},
		{"after the run", noon + hour + minute, noon + hour + minute, 0},
	} {
		l := of(t, pod(1, noon))
		l.Header.LastRun = noon + hour
		late := ended(pod(1, noon), tt.at, ledger.ContainerFinished)
		late.Seen = noon + hour + 5*minute
		if got := l.Contradicts(&late); got != tt.contradiction {
			t.Errorf("%s: it is contradicted by %d, want %d", tt.name, got-noon, tt.contradiction)
		}
		for range 2 {
			observe(t, l, late)
			if got, _ := l.Get(uid(1)); got.End != ledger.ExactEnd(tt.want, ledger.ContainerFinished) {
				t.Errorf("%s: the end is %+v", tt.name, got.End)
			}
			l.Header.LastRun, late.Seen = late.Seen, late.Seen+hour
		}
	}
}
