package spotpool_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// beginDeletion leaves the pool as a destroy that was killed right after it began.
func beginDeletion(t *testing.T, w *providertest.World) {
	t.Helper()
	records := record.SpotPools(record.Repository{Store: w.Store(), Actor: "terraform"})
	r, err := records.Load(context.Background(), "ap-singapore/train")
	if err == nil {
		_, err = records.BeginDeletion(context.Background(), r)
	}
	if err != nil || r.Value.Phase != declaration.Active {
		t.Fatalf("%+v, %v", r.Value, err)
	}
	if err := records.WriteTombstone(context.Background(), r.Value.Declaration, r.Value.UpdatedAt); err != nil {
		t.Fatal(err)
	}
}

// If a configuration still declares a pool that is being deleted, its plan completes the
// deletion and creates the pool again. A destroy completes it, too.
func TestABegunDeletionIsNoEmptyPlan(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	d := w.Terraform()
	d.Write(pool())
	d.Apply()
	d.Apply() // which notes that nothing is left to do
	first := w.Pool("train")
	beginDeletion(t, w)
	for _, config := range []string{pool(), pool(attributes{"maximum": "5"})} {
		d.Write(config)
		warnings, planned := d.Plan()
		if change := planned[address].Change; change != "delete,create" {
			t.Errorf("it is to %s", change)
		}
		says(t, about(t, warnings, "The deletion of spot pool ap-singapore/train was begun and not finished"), []string{"terraform destroy"})
		says(t, about(t, warnings, "2 instances to terminate"), first)
		if r := d.Run("terraform", "plan", "-input=false", "-detailed-exitcode"); r.Code != 2 {
			t.Errorf("the plan ends with %d:\n%s%s", r.Code, r.Stdout, r.Stderr)
		}
		if _, planned = d.Plan("-destroy"); planned[address].Change != "delete" {
			t.Errorf("a destroy is to %s", planned[address].Change)
		}
	}
	d.Apply()
	for _, id := range w.Pool("train") {
		if strings.Contains(strings.Join(first, " "), id) {
			t.Errorf("%s of the pool that was deleted is left", id)
		}
	}
	if n := len(w.Pool("train")); n != 2 {
		t.Errorf("the pool has %d instances", n)
	}
	if r := d.Run("terraform", "plan", "-input=false", "-detailed-exitcode"); r.Code != 0 {
		t.Errorf("after it, a plan ends with %d:\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	beginDeletion(t, w)
	d.Must("terraform", "destroy", "-auto-approve", "-input=false")
	if left := w.Pool("train"); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
	r, err := record.SpotPools(record.Repository{Store: w.Store()}).
		Load(context.Background(), spotpool.Declaration{Region: "ap-singapore", Name: "train"}.Key())
	if err != nil || r.Exists() {
		t.Errorf("its record is %+v, %v", r.Value, err)
	}
}

// A destroy that fails has begun the deletion, and a plan knows so without a refresh.
func TestAFailedDestroyIsKnownWithoutARefresh(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	d := w.Terraform()
	d.Write(pool())
	d.Apply()
	if _, err := w.Sim.Server.AddFault(cvmsim.Fault{Kind: cvmsim.FaultError, Code: "UnauthorizedOperation",
		Action: "TerminateInstances", Count: -1}); err != nil {
		t.Fatal(err)
	}
	if r := d.Run("terraform", "destroy", "-auto-approve", "-input=false"); r.Code == 0 {
		t.Fatalf("the destroy succeeds:\n%s", r.Stdout)
	}
	warnings, planned := d.Plan("-refresh=false")
	if change := planned[address].Change; change != "delete,create" {
		t.Errorf("it is to %s", change)
	}
	says(t, about(t, warnings, "The deletion of spot pool ap-singapore/train was begun and not finished"), []string{"terraform destroy"})
	w.Sim.Server.ClearFaults()
	d.Must("terraform", "destroy", "-auto-approve", "-input=false")
}
