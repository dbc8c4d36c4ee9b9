package toycloud_test

import (
	"context"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools/cloudtest/toycloud"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

// ticking is a cloud whose clock moves on with each listing, so that nothing waits.
type ticking struct{ *toycloud.Cloud }

func (c ticking) ObservePool(ctx context.Context, region, uid string, ids []string) ([]spotpool.Instance, time.Time, error) {
	c.Step(time.Minute)
	return c.Cloud.ObservePool(ctx, region, uid, ids)
}

// TestPoolLivesOnAnotherCloud runs the spot pool flow on a cloud that shares no code with
// Tencent Cloud's.
func TestPoolLivesOnAnotherCloud(t *testing.T) {
	t.Parallel()
	s, err := directory.Open(t.TempDir()+"/store", directory.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	cloud := toycloud.New()
	flow := spotpools.New(spotpools.Ports{
		Cloud: ticking{cloud}, Repository: record.Repository{Store: s, Actor: "test", LockTimeout: time.Second},
		Clock: time.Now, PollInterval: time.Millisecond,
	})
	r := toycloud.Request()
	state, err := flow.Create(t.Context(), spotpool.Declaration{
		Name: "train", Region: r.Region, Minimum: 3, Maximum: 4, Offerings: []spotpool.Offering{r.Offering}, Configuration: r.Configuration,
	}.WithDefaults(), time.Minute)
	if err != nil || state.Plan.Capacity != 3 {
		t.Fatalf("create: got the capacity %d and the error %v, want 3", state.Plan.Capacity, err)
	}
	list, _, err := cloud.ObserveNamed(t.Context(), r.Region, "train")
	if err != nil || len(list) != 3 {
		t.Fatalf("the cloud has %d instances (%v), want 3", len(list), err)
	}
	cloud.Reclaim(list[0].ID)
	if state, err = flow.Update(t.Context(), state.Declaration, time.Minute); err != nil || state.Plan.Capacity != 3 {
		t.Errorf("after a reclaim: got the capacity %d and the error %v, want 3", state.Plan.Capacity, err)
	}
	if _, err := flow.Delete(t.Context(), state.Declaration, time.Minute); err != nil {
		t.Fatal(err)
	}
	if list, _, err = cloud.ObserveRegion(t.Context(), r.Region); err != nil || len(list) != 0 {
		t.Errorf("after the delete, the cloud has %v (%v)", list, err)
	}
}
