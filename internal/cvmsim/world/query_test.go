package world_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// After any change of instances, the index and the cache of queries return the same as a scan,
// in the same order.
func TestQueriesAgreeWithScan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		store, err := world.NewStore(time.Now, world.Settings{}, "")
		if err != nil {
			rt.Fatal(err)
		}
		pools := []string{"a", "b", "c"}
		// change changes one of the instances, if there is one.
		change := func(rt *rapid.T, do func(*world.World, *world.Instance)) {
			store.Read(func(w *world.World) {
				if all := w.Instances.Ordered(); len(all) > 0 {
					do(w, rapid.SampledFrom(all).Draw(rt, "instance"))
				}
			})
		}
		rt.Repeat(map[string]func(*rapid.T){
			"launch": func(rt *rapid.T) {
				l := pooled(rapid.SampledFrom(pools).Draw(rt, "pool"), rapid.IntRange(1, 3).Draw(rt, "count"))
				store.Read(func(w *world.World) { w.Launch(l, w.Now(), "", world.LaunchWorks) })
			},
			"vanish": func(rt *rapid.T) { change(rt, (*world.World).Remove) },
			"retag": func(rt *rapid.T) {
				pool := rapid.SampledFrom(pools).Draw(rt, "pool")
				change(rt, func(w *world.World, in *world.Instance) {
					w.ChangeTags(in, w.Now(), []world.Tag{{Key: world.PoolTag, Value: pool}}, nil)
				})
			},
			"": func(rt *rapid.T) {
				for _, wanted := range [][]string{{"a"}, {"b", "c"}} {
					store.Read(func(w *world.World) {
						others := func(in *world.Instance) bool { return !slices.Contains(wanted, in.FinalTag(world.PoolTag)) }
						want := slices.DeleteFunc(w.Instances.Ordered(), others)
						got := w.Instances.Query("ap-singapore", []world.Filter{{Name: "tag:" + world.PoolTag, Values: wanted}})
						if !slices.Equal(got, want) {
							rt.Fatalf("%v: found %v, want %v", wanted, got, want)
						}
					})
				}
			},
		})
	})
}

// pooled is a launch of so many instances of a pool in Singapore.
func pooled(pool string, count int) world.Launch {
	sku := world.SKU{Zone: "ap-singapore-2", Type: "GN7.2XLARGE32", Charge: world.ChargeSpot}
	return world.Launch{
		SKU: sku, Count: int64(count), Tags: []world.Tag{{Key: world.PoolTag, Value: pool}},
		Instance: world.Instance{Region: "ap-singapore", Zone: sku.Zone, Type: sku.Type, ChargeType: sku.Charge},
	}
}
