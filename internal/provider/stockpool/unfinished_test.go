package stockpool_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

func hears(warnings []providertest.Message, headline string) bool {
	return slices.ContainsFunc(warnings, func(w providertest.Message) bool { return strings.Contains(w.Summary, headline) })
}

// TestAnImportedCreationIsFinished by the next apply, as its plan says. No warning reports a
// lost store.
func TestAnImportedCreationIsFinished(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	records := record.StockPools(record.Repository{Store: s.Store(), Actor: "test"})
	begun := stockpool.Declaration{
		Name: "pool-g1", Namespace: s.namespace, UID: record.NewID(), Generation: 1, ClusterUID: s.ClusterUID(), SpecName: "g1.1",
		Image: "registry.example.com/team/runtime:1", Memory: "1Gi", GPU: 1, Replicas: 2, Labels: map[string]string{"team": "a"},
	}.WithDefaults()
	if _, err := records.Save(context.Background(), record.Stored[stockpool.Declaration]{}, declaration.Creating, begun); err != nil {
		t.Fatal(err)
	}
	d := s.Terraform()
	d.Write(s.pool())
	d.Must("terraform", "import", "-input=false", address, begun.Key())
	warnings, changes := d.Plan()
	if changes[address].Change != "update" || !hears(warnings, "pool-g1 is not created yet") || hears(warnings, "is not recorded") ||
		hears(warnings, "Store is missing") {
		t.Errorf("it is to %s, with %+v", changes[address].Change, warnings)
	}
	d.Apply()
	if r, err := records.Load(context.Background(), begun.Key()); err != nil || r.Value.Phase != declaration.Active || r.Value.Declaration.UID != begun.UID {
		t.Errorf("its record is %+v, %v", r.Value, err)
	}
	if of := s.deployment(); of == nil || *of.Spec.Replicas != 2 {
		t.Errorf("its Deployment is %+v", of)
	}
	if _, changes = d.Plan(); changes[address].Change != "no-op" {
		t.Errorf("after it, a plan finds something to %s", changes[address].Change)
	}
}

// TestABegunDeletionIsNoEmptyPlan but one that finishes it and creates the pool again.
func TestABegunDeletionIsNoEmptyPlan(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	d := s.Terraform()
	d.Write(s.pool())
	d.Apply()
	records := record.StockPools(record.Repository{Store: s.Store(), Actor: "test"})
	r, err := records.Load(context.Background(), s.namespace+"/pool-g1")
	if err == nil {
		_, err = records.BeginDeletion(context.Background(), r)
	}
	if err != nil || !r.Exists() {
		t.Fatalf("%+v, %v", r.Value, err)
	}
	warnings, changes := d.Plan()
	if changes[address].Change != "delete,create" || !hears(warnings, "The deletion of stock pool") {
		t.Errorf("it is to %s, with %+v", changes[address].Change, warnings)
	}
	d.Apply()
	if r, err = records.Load(context.Background(), s.namespace+"/pool-g1"); err != nil || r.Value.Phase != declaration.Active {
		t.Errorf("its record is %+v, %v", r.Value, err)
	}
}
