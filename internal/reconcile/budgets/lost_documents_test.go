package budgets_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// damages are the ways in which a document is lost.
var damages = map[string]func(data []byte) []byte{
	"removed":   func([]byte) []byte { return nil },
	"truncated": func(data []byte) []byte { return data[:len(data)/2] },
	"empty":     func([]byte) []byte { return []byte{} },
	"zeroed":    func(data []byte) []byte { return make([]byte, len(data)) },
}

// damage loses the documents of the ledger whose names contain a text.
func (d *fixture) damage(text string, how func([]byte) []byte) {
	d.t.Helper()
	s := d.Store()
	docs, err := s.List(context.Background(), store.Ledger)
	if err != nil {
		d.t.Fatal(err)
	}
	docs = slices.DeleteFunc(docs, func(doc store.Document) bool { return !strings.Contains(doc.Key.Name, text) })
	if len(docs) == 0 {
		d.t.Fatalf("the ledger has no document %s", text)
	}
	for _, doc := range docs {
		if data := how(doc.Data); data == nil {
			err = s.Delete(context.Background(), doc.Key, doc.Revision)
		} else {
			_, err = s.Write(context.Background(), doc.Key, data, doc.Revision)
		}
		if err != nil {
			d.t.Fatal(err)
		}
	}
}

// TestALostDocumentHidesNoRunningPod loses what the ledger recorded of pods that run.
func TestALostDocumentHidesNoRunningPod(t *testing.T) {
	t.Parallel()
	for name, how := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Declare(enforcing(budget.Freeze))
			d.Cluster.Start("ml", "a", 8)
			d.Run()
			d.Cluster.Step(40 * time.Minute)
			wantTold(t, d.Run(), "done alert", "done freeze")
			d.Cluster.Step(time.Minute)
			d.damage("/recent", how)
			for range 3 {
				r := d.Run()
				wantTold(t, r)
				if b := r.Budgets[0]; b.ActivePods != 1 || b.BurnRateGPUs != "8" || !*b.Exceeded {
					t.Errorf("%d pods hold %s GPUs: %s GPU-hours are consumed", b.ActivePods, b.BurnRateGPUs, b.ConsumedGPUHours)
				}
				d.Cluster.Step(time.Minute)
			}
			if lists := d.Cluster.Lists; lists != 2 {
				t.Errorf("all pods were listed %d times, want once at the beginning and once after the loss", lists)
			}
		})
	}
}

// TestALostDocumentOfManyHidesNoRunningPod loses a document of pods that were recorded
// long ago.
func TestALostDocumentOfManyHidesNoRunningPod(t *testing.T) {
	t.Parallel()
	for name, how := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Declare(plenty)
			const pods = 2100 // more than are kept as recent
			for n := range pods {
				d.Cluster.Start("ml", fmt.Sprintf("pod-%d", n), 1)
			}
			d.Run()
			d.Cluster.Step(time.Minute)
			d.damage("/open-0", how)
			if b := d.Run().Budgets[0]; b.ActivePods != pods {
				t.Errorf("%d pods are counted, want %d", b.ActivePods, pods)
			}
		})
	}
}

// TestAcceptingALossCountsRunningPods: whether the loss was noticed before or not.
func TestAcceptingALossCountsRunningPods(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]int{"at once": 0, "after other runs": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Declare(enforcing(budget.Freeze))
			d.Cluster.Start("ml", "a", 8)
			d.Run()
			d.Cluster.Step(40 * time.Minute)
			d.Run()
			d.damage("/recent", damages["removed"])
			for range before {
				d.Cluster.Step(time.Minute)
				d.Run()
			}
			d.Cluster.Step(time.Minute)
			r, err := d.Runner().Run(context.Background(), reconcile.RunOptions{AcceptLoss: "the disk is gone"})
			if err != nil {
				t.Fatal(err)
			}
			wantTold(t, r)
			if b := r.Budgets[0]; b.ActivePods != 1 || !*b.Exceeded || len(d.Cluster.Frozen) != 1 {
				t.Errorf("%d pods are counted, %s GPU-hours are consumed, %d frozen", b.ActivePods, b.ConsumedGPUHours, len(d.Cluster.Frozen))
			}
		})
	}
}

// historyKinds are the kinds of events in the history.
func (d *fixture) historyKinds() []history.Kind {
	d.t.Helper()
	answer, err := (&eventlog.Log{Store: d.Store(), Now: d.Cluster.Now}).Ask(context.Background(), history.Query{})
	if err != nil {
		d.t.Fatal(err)
	}
	var kinds []history.Kind
	for _, e := range answer.Events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// TestALossIsNoRecovery: the history reports none while usage is unknown, and one once
// it is known to be below the limit.
func TestALossIsNoRecovery(t *testing.T) {
	t.Parallel()
	d := exceededWithALoss(t, budget.Freeze, "5")
	d.Run()
	d.Cluster.Step(time.Minute)
	d.Run()
	if kinds := d.historyKinds(); slices.Contains(kinds, history.Recovered) || !slices.Contains(kinds, history.Exceeded) {
		t.Errorf("while usage is unknown, the history has %v", kinds)
	}
	d.Cluster.Step(time.Minute)
	if _, err := d.Runner().Run(context.Background(), reconcile.RunOptions{AcceptLoss: "the disk is gone"}); err != nil {
		t.Fatal(err)
	}
	if kinds := d.historyKinds(); !slices.Contains(kinds, history.Recovered) {
		t.Errorf("after the loss was accepted, the history has %v", kinds)
	}
}

// TestAcceptingALossAnnouncesWhatItLifts: before it lifts anything, and in a dry run.
func TestAcceptingALossAnnouncesWhatItLifts(t *testing.T) {
	t.Parallel()
	d := exceededWithALoss(t, budget.Freeze, "5")
	const want = "2.067 of 5.000 GPU-hours are counted without the lost part: its freeze is lifted, pools that name it may launch"
	if told := strings.Join(d.Run().Budgets[0].Warnings.Texts(), "\n"); !strings.Contains(told,
		"if the loss is accepted, only 2.067 of 5.000 GPU-hours are used (41%): everything in force is lifted") {
		t.Errorf("the run that finds the loss warns of %q", told)
	}
	p := d.Process()
	announced := false
	p.Progress = func(event outcome.Event) {
		announced = announced || event.Message == want && len(d.Cluster.Frozen) == 1
	}
	o := reconcile.RunOptions{DryRun: true, AcceptLoss: "the disk is gone"}
	for range 2 {
		r, err := p.Runner().Run(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if warnings := strings.Join(r.Warnings.Texts(), "\n"); !announced || !strings.Contains(warnings, "budget/team-a: "+want) {
			t.Errorf("dry run %t: announced in time %t; it warns of %q", o.DryRun, announced, warnings)
		}
		if frozen := len(d.Cluster.Frozen) == 1; frozen != o.DryRun {
			t.Errorf("dry run %t: frozen %t", o.DryRun, frozen)
		}
		o.DryRun, announced = false, false
	}
}
