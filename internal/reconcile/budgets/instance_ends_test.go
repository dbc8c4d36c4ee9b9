package budgets_test

import (
	"context"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// journal puts the journal of a pool into the store.
func (d *fixture) journal(j journal.Journal) {
	d.t.Helper()
	data, err := declaration.Encode(j)
	if err != nil {
		d.t.Fatal(err)
	}
	key := store.Key{Kind: store.Journals, Name: "ap-singapore/train/0123456789abcdef0123456789abcdef"}
	if _, err := d.Store().Write(context.Background(), key, data, ""); err != nil {
		d.t.Fatal(err)
	}
}

// TestAPoolKnowsWhenInstancesEnded, whether they are gone yet, whether it ended
// them itself, and even if it says so only after the pod was found gone.
func TestAPoolKnowsWhenInstancesEnded(t *testing.T) {
	t.Parallel()
	const id = "ins-a1b2c3d4"
	for name, test := range map[string]struct {
		journal func(at time.Time) journal.Journal
		late    bool
		want    string // of two GPUs: between the first quarter of an hour and the third
		bound   string // with what else the 16 GPUs of the cluster may have run unseen
	}{
		"ended, and not gone": {func(at time.Time) journal.Journal {
			return journal.Journal{Fleet: fleet.Fleet{Known: []fleet.Known{{InstanceID: id, Ended: true, EndedAt: at}}}}
		}, false, "1.000", "7.500"},
		"ended, and told late": {func(at time.Time) journal.Journal {
			return journal.Journal{Fleet: fleet.Fleet{Past: []fleet.Past{{InstanceID: id, EndedAt: at}}}}
		}, true, "1.000", "7.500"},
		"reclaimed": {func(at time.Time) journal.Journal {
			return journal.Journal{Fleet: fleet.Fleet{Past: []fleet.Past{{InstanceID: id, NoticedAt: at}}}}
		}, false, "0.750", "8.250"},
		"being reclaimed, and told late": {func(at time.Time) journal.Journal {
			return journal.Journal{Fleet: fleet.Fleet{Known: []fleet.Known{{InstanceID: id, Ended: true, NoticedAt: at}}}}
		}, true, "0.750", "8.250"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Declare()
			uid := d.Cluster.Start("ml", "a", 2, func(s *gpu.Pod) { s.Node.ProviderID = "qcloud:///800001/" + id })
			d.Cluster.Step(15 * time.Minute)
			d.Run()
			d.Cluster.Step(15 * time.Minute)
			journal := test.journal(d.Cluster.Now())
			d.Cluster.Remove(uid)
			d.Cluster.Forget()
			d.Cluster.Step(15 * time.Minute)
			if test.late {
				d.Run()
			}
			d.journal(journal)
			r := d.Run()
			wantConsumed(t, r, test.want)
			wantBound(t, r, test.bound)
		})
	}
}

// TestAnInstanceThatWasLetGoGoesOn: its pool no longer finds it, and its pods run.
func TestAnInstanceThatWasLetGoGoesOn(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(plenty)
	uid := d.Cluster.Start("ml", "a", 2, func(s *gpu.Pod) { s.Node.ProviderID = "qcloud:///800001/ins-a1b2c3d4" })
	d.Run()
	d.journal(journal.Journal{Fleet: fleet.Fleet{Past: []fleet.Past{{InstanceID: "ins-a1b2c3d4", NoticedAt: d.Cluster.Now().Add(time.Minute)}}}})
	d.Cluster.Step(2 * time.Hour)
	d.Run()
	d.Cluster.Remove(uid)
	d.Cluster.Forget()
	d.Cluster.Step(30 * time.Minute)
	wantConsumed(t, d.Run(), "4.500")
}

// TestInstanceEndedByItsPool takes the end of a pod whose machine a spot pool
// ended from the pool's journal, where the cluster tells nothing.
func TestInstanceEndedByItsPool(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare()
	uid := d.Cluster.Start("ml", "a", 2, func(s *gpu.Pod) { s.Node.ProviderID = "qcloud:///800001/ins-a1b2c3d4" })
	d.Run()
	d.Cluster.Step(15 * time.Minute)
	d.journal(journal.Journal{Fleet: fleet.Fleet{Past: []fleet.Past{{InstanceID: "ins-a1b2c3d4", EndedAt: d.Cluster.Now()}}}})
	d.Cluster.Remove(uid)
	d.Cluster.Forget()
	d.Cluster.Step(30 * time.Minute)
	report := d.Run()
	wantConsumed(t, report, "0.500")
	wantEstimated(t, report, "0.000")
	live, err := d.Budgets().Ask(context.Background(), budgets.Question{Budget: "team-a"})
	if err != nil || live.Pods[0].Record.End.Source != ledger.InstanceEnded || live.Pods[0].Record.Place.SpotPool != "" {
		t.Errorf("the record: %v, %+v", err, live.Pods)
	}
}
