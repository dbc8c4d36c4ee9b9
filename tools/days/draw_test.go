package days

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

const (
	aDay     = 24 * time.Hour
	runEvery = 5 * time.Minute
	// tick is how far the clocks go at once.
	tick = 30 * time.Second
	// noticeAhead is the time between an interruption notice and the interruption.
	noticeAhead = 2 * time.Minute
)

// event happens at a time of the day, with any strategy.
type event struct {
	at time.Duration
	do func(*stage)
}

type day struct {
	seed   uint64
	events []event
	missed map[time.Duration]bool // runs
}

type drawing struct {
	*rand.Rand
	day day
}

func draw(seed uint64) day {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 1)), day: day{seed: seed, missed: map[time.Duration]bool{}}}
	for at := runEvery; at <= aDay; at += runEvery {
		d.day.missed[at] = d.Float64() < 0.1
	}
	for _, zone := range []string{reconciletest.ZoneA, reconciletest.ZoneB} {
		for range 2 + d.IntN(3) {
			d.shortage(zone)
		}
		for range 4 {
			d.price(zone, 1+3*d.Float64())
		}
	}
	for range 2 + d.IntN(3) {
		d.reclaim(d.moment(), d.IntN(len(poolNames)), "")
	}
	for range 2 {
		d.lostAnswer()
	}
	for range 1 + d.IntN(2) {
		d.failingNode()
	}
	d.newImage(d.IntN(len(poolNames)))
	d.smaller(d.IntN(len(poolNames)))
	slices.SortStableFunc(d.day.events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return d.day
}

// moment is some time of the day, but not at its very end.
func (d *drawing) moment() time.Duration {
	return (time.Duration(d.Int64N(int64(23*time.Hour))) + 10*time.Minute).Truncate(tick)
}

func (d *drawing) between(least, most time.Duration) time.Duration {
	return (least + time.Duration(d.Int64N(int64(most-least)))).Truncate(tick)
}

func (d *drawing) add(at time.Duration, do func(*stage)) {
	d.day.events = append(d.day.events, event{at, do})
}

// shortage is a time in which a zone sells nothing, and in which some of its machines are
// interrupted.
func (d *drawing) shortage(zone string) {
	from, lasts := d.moment(), d.between(10*time.Minute, 2*time.Hour)
	d.add(from, func(s *stage) { s.counts["stock-outs"]++; s.stock(zone, +1) })
	d.add(from+lasts, func(s *stage) { s.stock(zone, -1) })
	for pool := range poolNames {
		if d.Float64() < 0.6 {
			d.reclaim(from+d.between(0, min(lasts, 20*time.Minute)), pool, zone)
		}
	}
}

// reclaim interrupts a machine of a pool, with a notice or without.
func (d *drawing) reclaim(at time.Duration, pool int, zone string) {
	which, told := d.Float64(), d.Float64() < 0.5
	d.add(at, func(s *stage) { s.reclaim(s.pools[pool], zone, which, told) })
}

func (d *drawing) price(zone string, yuan float64) {
	d.add(d.moment(), func(s *stage) {
		s.counts["price moves"]++
		s.markets = nil
		s.must(s.world.Sim.Server.SetPrice(cvmsim.PriceRequest{AvailabilityZone: zone, InstanceType: reconciletest.GPUType, Price: fmt.Sprintf("%.2f", yuan)}))
	})
}

// lostAnswer is an effective launch whose response is lost, and that of its repetition, too.
func (d *drawing) lostAnswer() {
	d.add(d.moment(), func(s *stage) {
		s.counts["launches whose answer is lost"]++
		_, err := s.world.Sim.Server.AddFault(cvmsim.Fault{Kind: cvmsim.FaultHTTP502After, Action: "RunInstances", Count: attempts})
		s.must(err)
	})
}

// failingNode has a node fail, for a few minutes or for good.
func (d *drawing) failingNode() {
	pool, which, lasts := d.IntN(len(poolNames)), d.Float64(), d.between(2*time.Minute, 8*time.Minute)
	if d.Float64() < 0.5 {
		lasts = 2 * aDay
	}
	d.add(d.moment(), func(s *stage) { s.failNode(s.pools[pool], which, s.now+lasts) })
}

// newImage gives a pool another image: its machines are to be replaced.
func (d *drawing) newImage(pool int) {
	d.add(d.moment(), func(s *stage) {
		s.counts["new images"]++
		s.declare(s.pools[pool], func(d *spotpool.Declaration) { d.ImageID = "img-b2c3d4e5" })
	})
}

func (d *drawing) smaller(pool int) {
	from, lasts := d.moment(), d.between(time.Hour, 6*time.Hour)
	size := poolSizes[pool]
	d.add(from, func(s *stage) {
		s.counts["scale-ins"]++
		s.declare(s.pools[pool], func(d *spotpool.Declaration) { d.Minimum, d.Maximum = size[0]-1, size[0]-1 })
	})
	d.add(from+lasts, func(s *stage) {
		s.declare(s.pools[pool], func(d *spotpool.Declaration) { d.Minimum, d.Maximum = size[0], size[1] })
	})
}

// joining is how the n-th of the machines that a pool launches at a time become nodes:
// after a while, or never.
func (d day) joining(pool string, at time.Duration, n int) (after time.Duration, ever bool) {
	r := d.of(pool, int(at/tick)*100+n, 2)
	return time.Duration(60+r.IntN(180)) * time.Second, r.Float64() >= 0.03
}

// job is a piece of work, which holds a GPU.
type job struct {
	pod      node.Pod
	lasts    time.Duration
	progress time.Duration
}

// work is the n-th job of a pool, of half an hour to eight hours.
func (d day) work(pool string, n int) *job {
	r := d.of(pool, n, 3)
	hours := 0.5 * float64(int64(1)<<r.IntN(4)) * (1 + r.Float64())
	j := &job{lasts: time.Duration(hours * float64(time.Hour)), pod: node.Pod{
		Namespace: "ml", Name: fmt.Sprintf("%s-%d", pool, n), UID: fmt.Sprintf("uid-%s-%d", pool, n), Controller: "Job", Grace: 30,
	}}
	protected, alone := r.Float64() < 0.08, r.Float64() < 0.08
	switch {
	case protected:
		j.pod.Protected = true
	case alone:
		j.pod.Controller = ""
	}
	return j
}

// of draws what belongs to the n-th thing of a pool, whatever happened before.
func (d day) of(pool string, n int, what uint64) *rand.Rand {
	return rand.New(rand.NewPCG(d.seed*1000+uint64(slices.Index(poolNames, pool)), uint64(n)*10+what))
}
