package decide_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// BenchmarkDecide decides about a region once: many pools at rest, or one large
// pool that has to grow or shrink.
func BenchmarkDecide(b *testing.B) {
	atRest := func(n int) func(*spotpool.Declaration) { return size(n, n) }
	for _, c := range []struct {
		name             string
		pools, instances int
		change           func(*spotpool.Declaration)
	}{
		{"at rest/10 pools of 50", 10, 50, atRest(50)},
		{"at rest/100 pools of 50", 100, 50, atRest(50)},
		{"at rest/1000 pools of 50", 1000, 50, atRest(50)},
		{"short/1 pool of 10000 from 5000", 1, 5000, func(d *spotpool.Declaration) {
			d.Minimum, d.Maximum, d.MaxLaunchesPerRun, d.AllocationStrategy = 10000, 10000, 10000, spotpool.Balanced
		}},
		{"scale-in/1 pool of 10000 to 100", 1, 10000, size(0, 100)},
		{"refresh/1 pool of 10000", 1, 10000, func(d *spotpool.Declaration) {
			d.Minimum, d.Maximum, d.ImageID, d.Refresh = 10000, 10000, "img-ffffffff", spotpool.Refresh{Strategy: spotpool.RefreshRolling, MaxUnavailable: 100}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			situations := make([]decide.Situation, c.pools)
			for n := range situations {
				d := pool(c.change)
				d.UID = fmt.Sprintf("%032x", n)
				d.UserData = fmt.Sprintf("%012000d", n)
				situations[n] = crowd(d, c.instances)
			}
			for b.Loop() {
				for _, s := range situations {
					decide.Decide(s)
				}
			}
		})
	}
}

// crowd is a pool that holds n instances, all recorded and current.
func crowd(d spotpool.Declaration, n int) decide.Situation {
	s := seen(d)
	tags := map[string]string{}
	for _, o := range pool().Offerings {
		tags[o.AvailabilityZone] = spotpool.ConfigurationTag(d.Configuration, o, spotpool.Spot)
		if d.Refresh.Strategy != spotpool.RefreshNone {
			tags[o.AvailabilityZone] = "1:00000000deadbeef"
		}
	}
	for k := range n {
		zone := []string{zone2, zone3}[k%2]
		s.Observation.Instances = append(s.Observation.Instances, instance(fmt.Sprintf("ins-%08d", k), func(i *spotpool.Instance) {
			i.PoolUID, i.AvailabilityZone, i.ConfigurationTag = d.UID, zone, tags[zone]
			i.LaunchedAt = ago(time.Hour + time.Duration(k)*time.Second)
		}))
	}
	s.Journal = decide.Decide(s).Journal
	return s
}
