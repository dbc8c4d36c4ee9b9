package spotpools_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// The plan of a new pool in a large account lists no region for it; that of many
// lists it once.
func TestPreviewsAskForLittle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.Sim.Server.Seed(cvmsim.SeedRequest{
		AvailabilityZone: reconciletest.ZoneA, InstanceType: reconciletest.GPUType, Count: 230, Pool: "large", UID: "a123456789abcdef0123456789abcdef",
		Seq: "1",
	}); err != nil {
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

// The plan of a creation that was killed counts what it left, and plans what is missing.
func TestAPreviewCountsWhatACutCreationLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.cutCreate()
	w.Step(time.Minute)
	for minimum, launches := range map[int]int{3: 0, 4: 1} {
		d.Minimum = minimum
		plan, err := w.Pools(nil).Preview(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		for _, decision := range plan.Decisions {
			if decision.Kind == spotpool.KindLaunch && !decision.Resume {
				asked += decision.Count
			}
		}
		if asked != launches || len(plan.Messages) == 0 || plan.Messages[0].String() != "resumes an interrupted creation: has 3" {
			t.Errorf("for a minimum of %d it launches %d, and says %q", minimum, asked, plan.Messages)
		}
	}
}
