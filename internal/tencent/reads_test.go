package tencent

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
)

// A plan over a thousand pools, ten at a time, as Terraform does it.
func TestAThousandPoolsAreReadInFewCalls(t *testing.T) {
	t.Parallel()
	sim, client := startSim(t)
	ids := map[string]string{}
	for n := range 1000 {
		uid := fmt.Sprint("uid-", n)
		ids[uid] = seed(t, sim, cvmsim.SeedRequest{Pool: fmt.Sprint("p", n), UID: uid})[0]
	}
	reads := client.NewReads(time.Minute)
	var group errgroup.Group
	group.SetLimit(10)
	for uid, id := range ids {
		group.Go(func() error {
			list, _, err := reads.ObservePool(t.Context(), testRegion, uid, []string{id})
			if err != nil || len(list) != 1 || list[0].ID != id || list[0].PoolUID != uid {
				return fmt.Errorf("%s: %v, %w", uid, list, err)
			}
			_, _, err = reads.Markets(t.Context(), testRegion)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, n := range client.Calls() {
		total += n
	}
	if total > 20 {
		t.Errorf("%d calls: %v", total, client.Calls())
	}
}

func TestAFewPoolsAreReadOneByOne(t *testing.T) {
	t.Parallel()
	sim, client := startSim(t)
	seed(t, sim, cvmsim.SeedRequest{UID: "others", Count: 1500})
	reads := client.NewReads(time.Minute)
	for n := range 5 {
		uid := fmt.Sprint("uid-", n)
		id := seed(t, sim, cvmsim.SeedRequest{UID: uid})
		list, _, err := reads.ObservePool(t.Context(), testRegion, uid, id)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
	}
	if n := client.Calls()["DescribeInstances"]; n != 6 { // one to learn how many others there are
		t.Errorf("%d calls, want 6", n)
	}
}

func TestSharedReadsAreNeverOlderThanAChange(t *testing.T) {
	t.Parallel()
	sim, client := startSim(t)
	var mu sync.Mutex
	now := time.Now()
	client.config.now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	reads := client.NewReads(time.Minute)
	look := func() int {
		t.Helper()
		list, _, err := reads.ObservePool(t.Context(), testRegion, "uid-1", nil)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	for range 4 {
		look()
	}
	before := client.Calls()["DescribeInstances"]
	seed(t, sim, cvmsim.SeedRequest{UID: "uid-1"})
	if n := look(); n != 0 || client.Calls()["DescribeInstances"] != before {
		t.Errorf("%d seen, %v: not shared", n, client.Calls())
	}
	if _, err := client.Launch(t.Context(), testRequest()); err != nil {
		t.Fatal(err)
	}
	if n := look(); n != 3 {
		t.Errorf("%d seen after a launch, want 3", n)
	}
	for range 4 {
		look()
	}
	seed(t, sim, cvmsim.SeedRequest{UID: "uid-1"})
	mu.Lock()
	now = now.Add(2 * time.Minute)
	mu.Unlock()
	if n := look(); n != 4 {
		t.Errorf("%d seen after the maximum age, want 4", n)
	}
}
