package spotpools_test

import (
	"fmt"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

// The plan of a new pool in a large account lists no region for it; that of many
// lists it once.
func TestPreviewsAskForLittle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.Sim.Server.Seed(cvmsim.SeedRequest{AvailabilityZone: reconciletest.ZoneA, InstanceType: reconciletest.GPUType, Count: 230, Pool: "large", UID: "a123456789abcdef0123456789abcdef", Seq: "1"}); err != nil {
		t.Fatal(err)
	}
	f := w.Pools(nil)
	preview := func(name string) int {
		t.Helper()
		before := f.Cloud.Calls()["DescribeInstances"]
		d := reconciletest.Pool(1, 2)
		d.Name = name
		if _, err := f.Preview(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		return f.Cloud.Calls()["DescribeInstances"] - before
	}
	if calls := preview("first"); calls != 1 {
		t.Errorf("one new pool took %d calls", calls)
	}
	all := 0
	for n := range 20 {
		all += preview(fmt.Sprint("more-", n))
	}
	if all > 10 { // a few by themselves, and the three pages
		t.Errorf("twenty more took %d", all)
	}
}
