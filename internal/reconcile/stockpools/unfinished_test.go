package stockpools_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

func (d *fixture) imported() stockpools.State {
	d.t.Helper()
	found, err := d.Process().StockPools().Find(context.Background(), "ml", "pool-g1")
	if err != nil {
		d.t.Fatal(err)
	}
	state, err := d.Process().StockPools().View(context.Background(), found)
	if err != nil {
		d.t.Fatal(err)
	}
	return state
}

// TestAnImportTakesACreationUp that was cut short, and the apply after it finishes it,
// also where it declares something else.
func TestAnImportTakesACreationUp(t *testing.T) {
	t.Parallel()
	for name, replicas := range map[string]int{"in sync": 2, "changed": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Cluster.Failing["CreateStock"] = errors.New("no answer")
			if _, err := d.Process().StockPools().Create(context.Background(), pool(), 0); err == nil {
				t.Fatal("it was created")
			}
			delete(d.Cluster.Failing, "CreateStock")
			state := d.imported()
			if state.Recorded || !state.Unfinished || state.Declaration.UID == "" {
				t.Errorf("imported, it is %+v: a plan would find nothing to do", state)
			}
			of := state.Declaration
			of.Replicas = replicas
			if _, err := d.Process().StockPools().Update(context.Background(), of, 0); err != nil {
				t.Fatal(err)
			}
			if r := d.recorded(); r.Value.Phase != declaration.Active {
				t.Errorf("its record is %s", r.Value.Phase)
			}
			d.is(replicas, decide.Ready)
			if state := d.imported(); !state.Recorded || state.Unfinished {
				t.Errorf("finished, it is %+v", state)
			}
			if created, updated := d.reported(history.Create), d.reported(history.Update); created != 1 || updated != replicas-2 {
				t.Errorf("the history has %d creations and %d updates", created, updated)
			}
		})
	}
}

// TestARecordedAdoptionIsKnown to a state that was not written any more: a destroy ends
// what the adoption recorded.
func TestARecordedAdoptionIsKnown(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	theirs := pool().InitialDeployment("", 0)
	theirs.Annotations, theirs.Labels = nil, nil
	d.Cluster.Put(key, theirs)
	imported := d.imported().Declaration
	if imported.UID != "" {
		t.Fatalf("imported: %+v", imported)
	}
	declared := pool()
	declared.ClusterUID, declared.DeploymentUID = imported.ClusterUID, imported.DeploymentUID
	m := faults.Killed("ApplyStock", false)
	if _, err := d.ProcessBy(m).StockPools().Update(context.Background(), declared, 0); err == nil || d.recorded().Value.Phase != declaration.Active {
		t.Fatalf("%v; its record is %s", err, d.recorded().Value.Phase)
	}
	state, err := d.Process().StockPools().View(context.Background(), imported)
	if err != nil || !state.Recorded || state.Declaration.UID != d.recorded().Value.Declaration.UID {
		t.Fatalf("a refresh shows %+v, %v", state, err)
	}
	if _, err := d.Process().StockPools().Delete(context.Background(), state.Declaration, time.Minute); err != nil || d.replicas() != -1 || d.stocked() != 0 {
		t.Errorf("destroyed: %v; %d pods and %d documents are left", err, d.replicas(), d.stocked())
	}
}
