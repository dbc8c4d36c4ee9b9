package ledger_test

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
)

func TestADamagedOrMissingShardIsSurvived(t *testing.T) {
	t.Parallel()
	const lost = "closed-2026-11-20-11.parquet"
	for name, harm := range map[string]func(disk){
		"missing":   func(d disk) { delete(d, lost) },
		"empty":     func(d disk) { d[lost] = nil },
		"cut short": func(d disk) { d[lost] = d[lost][:len(d[lost])-1] },
		"a bit is wrong": func(d disk) {
			d[lost] = bytes.Clone(d[lost])
			d[lost][len(d[lost])-5] ^= 4
		},
		"another's content": func(d disk) { d[lost] = d["closed-2026-11-20-10.parquet"] },
		"something else":    func(d disk) { d[lost] = []byte("{}") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, whole := stored(t, 3, noon)
			copied := d[lost]
			harm(d)
			l, problems, err := ledger.Load(cluster, d, noon+5*minute)
			if err != nil {
				t.Fatal(err)
			}
			if len(problems) != 1 || problems[0].Document != lost {
				t.Fatalf("problems: %v", problems)
			}
			for _, want := range []string{lost, "1 interval that ended", "2026-11-20T11:00:00Z", "Restore it from a copy"} {
				if text := problems[0].Error(); !strings.Contains(text, want) {
					t.Errorf("%q does not say %q", text, want)
				}
			}
			if l.Len() != 3 {
				t.Errorf("%d records are left, want 3", l.Len())
			}
			if got := l.Header.Coverage(noon-2*hour, noon); got != 500 {
				t.Errorf("coverage is %d thousandths", got)
			}
			d.save(t, l, allSteps)

			// The header reports it again until a backup is restored.
			later, _, err := ledger.Load(cluster, d, noon+10*minute)
			if err != nil || len(later.Header.Lost) != 1 || later.Header.Lost[0].Document != lost {
				t.Fatalf("lost: %v %v", later.Header.Lost, err)
			}
			d.save(t, later, allSteps)
			d[lost] = copied
			restored := d.load(t, noon+15*minute)
			same(t, "restored", restored, whole)
			d.save(t, restored, allSteps)
			if again := d.load(t, noon+15*minute); len(again.Header.Lost) != 0 {
				t.Errorf("still lost: %v", again.Header.Lost)
			}
		})
	}
}

// TestADamagedHourOutlivesItsDay keeps an unreadable hour when the hours of a day become one
// document, so that a backup of it can still be restored.
func TestADamagedHourOutlivesItsDay(t *testing.T) {
	t.Parallel()
	const lost = "closed-2026-11-20-11.parquet"
	d, whole := stored(t, 3, noon)
	copied := d[lost]
	d[lost] = copied[:len(copied)-1]
	l, _, err := ledger.Load(cluster, d, noon+3*day)
	if err != nil {
		t.Fatal(err)
	}
	l.Header.LastRun = noon + 3*day
	d.save(t, l, allSteps)
	if diff := cmp.Diff([]string{lost, "closed-2026-11-20.parquet", "header", "recent.parquet"}, documents(d)); diff != "" {
		t.Fatalf("documents (-want +got):\n%s", diff)
	}
	d[lost] = copied
	restored := d.load(t, noon+3*day)
	if diff := cmp.Diff(records(whole), records(restored), alike); diff != "" || len(restored.Header.Lost) > 0 {
		t.Errorf("restored (-want +got):\n%s\nlost: %v", diff, restored.Header.Lost)
	}
	d.save(t, restored, allSteps)
	if diff := cmp.Diff([]string{"closed-2026-11-20.parquet", "header", "recent.parquet"}, documents(d)); diff != "" {
		t.Errorf("documents after that (-want +got):\n%s", diff)
	}
}

// TestALossIsNotForgottenWhenItsShardGoesOn holds wherever a run is interrupted, and a backup can
// still be restored.
func TestALossIsNotForgottenWhenItsShardGoesOn(t *testing.T) {
	t.Parallel()
	const lost = "closed-2026-11-20-11.parquet"
	for steps := range 4 {
		d, whole := stored(t, 3, noon)
		copied := d[lost]
		delete(d, lost)
		l, _, err := ledger.Load(cluster, d, noon)
		if err != nil {
			t.Fatal(err)
		}
		later := []ledger.Record{
			ended(pod(50, noon-hour), noon-minute, ledger.ContainerFinished), ended(pod(51, noon-hour), noon-minute, ledger.ContainerFinished),
		}
		for _, r := range later {
			observe(t, l, r)
			observe(t, whole, r)
		}
		if all := d.save(t, l, steps); all != 3 {
			t.Fatalf("%d steps", all)
		}
		again, _, err := ledger.Load(cluster, d, noon)
		if err != nil || len(again.Header.Lost) != 1 {
			t.Errorf("cut short after %d steps: lost %v (%v)", steps, again.Header.Lost, err)
		}
		d.save(t, l, allSteps)
		d[lost] = copied
		same(t, "put back", d.load(t, noon), whole)
	}
}

func TestADamagedDocumentOfOpenRecords(t *testing.T) {
	t.Parallel()
	d, _ := stored(t, 3, noon)
	d["recent.parquet"] = []byte("gpupool-ledger 1")
	l, problems, err := ledger.Load(cluster, d, noon+10*minute)
	if err != nil || len(problems) != 1 {
		t.Fatalf("%v %v", problems, err)
	}
	if want := (ledger.Loss{
		Document: "recent.parquet", From: noon, To: noon + 10*minute, Intervals: 1, Reason: problems[0].Err.Error(),
	}); *problems[0].Loss != want {
		t.Errorf("lost %+v, want %+v", *problems[0].Loss, want)
	}
	// The loss remains: two documents, since the name of the lost one is not reused.
	observe(t, l, pod(-1, noon-hour))
	observe(t, l, pod(-2, noon-hour))
	l.Header.LastRun = noon + 10*minute
	d.save(t, l, allSteps)
	again, problems, err := ledger.Load(cluster, d, noon+20*minute)
	if err != nil || len(problems) != 1 || again.Len() != 5 || len(again.Header.Lost) != 1 || again.Header.Lost[0].To != noon+10*minute {
		t.Fatalf("%d records, lost %+v, problems %v, %v", again.Len(), again.Header.Lost, problems, err)
	}
	// The loss is removed once it is outside every window.
	again.Prune(noon + 2*day)
	again.Header.LastRun = noon + 3*day
	d.save(t, again, allSteps)
	if last := d.load(t, noon+3*day); last.Len() != 2 || len(last.Header.Lost) > 0 {
		t.Errorf("%d records, lost %+v in %v", last.Len(), last.Header.Lost, documents(d))
	}
}

func TestAMissingHeader(t *testing.T) {
	t.Parallel()
	d, whole := stored(t, 3, noon)
	delete(d, "header")
	l, problems, err := ledger.Load(cluster, d, noon)
	if err != nil || len(problems) != 1 || problems[0].Document != "header" {
		t.Fatalf("%v %v", problems, err)
	}
	if diff := cmp.Diff(records(whole), records(l), alike); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if got := l.Header.Coverage(noon-hour, noon); got != 0 {
		t.Errorf("coverage is %d thousandths", got)
	}
}

func TestWhatStopsEverything(t *testing.T) {
	t.Parallel()
	d, _ := stored(t, 3, noon)
	header, shard := d["header"], d["recent.parquet"]
	newer := func(data []byte) []byte {
		return bytes.Replace(data, []byte("gpupool-ledger 6 "), []byte("gpupool-ledger 7 "), 1)
	}
	var tooNew *document.NewerError
	var damaged *document.DamagedError
	var other *document.ClusterError
	for name, test := range map[string]struct {
		cluster string
		change  func(disk)
		as      any
		says    string
	}{
		"a newer header":      {cluster, func(d disk) { d["header"] = newer(header) }, &tooNew, "header was written by a newer gpupool (format version 7"},
		"a newer shard":       {cluster, func(d disk) { d["recent.parquet"] = newer(shard) }, &tooNew, "recent.parquet was written by a newer gpupool"},
		"a damaged header":    {cluster, func(d disk) { d["header"] = header[:len(header)-1] }, &damaged, "nothing was changed"},
		"an empty header":     {cluster, func(d disk) { d["header"] = nil }, &damaged, "it is empty"},
		"another cluster":     {"8d1f", func(disk) {}, &other, `not to "8d1f"; nothing was changed`},
		"a header of another": {cluster, func(d disk) { d["header"] = bytes.Replace(header, []byte(cluster), []byte("8d1f"), 1) }, &damaged, "checksum"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := maps.Clone(d)
			test.change(d)
			l, problems, err := ledger.Load(test.cluster, d, noon)
			if l != nil || problems != nil || !errors.As(err, test.as) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, %v, %v", l, problems, err)
			}
		})
	}
}

func TestWhatIsNoDocumentIsLeftAlone(t *testing.T) {
	t.Parallel()
	d, whole := stored(t, 3, noon)
	for _, name := range []string{"closed-2026-11-20-25.parquet", "open-40.parquet", "closed-2026-11-20_3of2.parquet", "open-0g.parquet", "notes"} {
		d[name] = []byte("kept by someone")
	}
	l, problems, err := ledger.Load(cluster, d, noon)
	if err != nil || len(problems) != 5 {
		t.Fatalf("%v %v", problems, err)
	}
	same(t, "beside it", l, whole)
	if n := d.save(t, l, allSteps); n != 0 {
		t.Errorf("%d documents change", n)
	}
}

func TestAnotherClustersLedgerIsNotJoined(t *testing.T) {
	t.Parallel()
	l := of(t, pod(1, noon))
	other := ledger.New("8d1f")
	if err := other.Merge(pod(2, noon)); err != nil {
		t.Fatal(err)
	}
	var wrong *document.ClusterError
	if err := l.Join(other); !errors.As(err, &wrong) || l.Len() != 1 {
		t.Errorf("joined: %v", err)
	}
}
