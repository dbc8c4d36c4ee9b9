package schedule

import (
	"math/rand/v2"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
)

// rest is after how many rounds a destruction is due at the latest.
const rest = 6

// Draw draws a schedule from a seed: the same seed always gives the same one. The
// first rounds create a pool, change its image and destroy it, so that also a short
// schedule has some of each.
func Draw(seed uint64, rounds int) Schedule {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 0x5eed))}
	s := Schedule{Seed: seed}
	for n := range rounds {
		s.Rounds = append(s.Rounds, d.round(n))
	}
	return s
}

// drawing is a schedule that is being drawn.
type drawing struct {
	*rand.Rand
	terms Terms
	lived int // rounds since the pool was created
}

// oneIn is true once in n times.
func (d *drawing) oneIn(n int) bool { return d.IntN(n) == 0 }

// between draws a duration, in milliseconds.
func (d *drawing) between(from, to time.Duration) time.Duration {
	return (from + time.Duration(d.Int64N(int64(to-from)+1))).Round(time.Millisecond)
}

func (d *drawing) round(n int) Round {
	r := Round{Operation: Apply, Stock: 100, Remedy: []Remedy{ByReconcile, ByReconcile, ByTerraform, ByImport}[d.IntN(4)]}
	if d.lived == 0 && d.oneIn(2) { // of a creation that is killed
		r.Remedy = ByImport
	}
	if n > 0 && (d.lived >= rest+d.IntN(4) || d.lived > 1 && d.oneIn(9)) {
		r.Operation = Destroy
	}
	if r.Operation == Apply {
		d.nextTerms(n)
	}
	r.Terms = d.terms
	r.Weather = d.weather(r.Operation)
	d.unsettle(&r)
	d.processes(&r)
	for range d.IntN(4) {
		r.Faults = append(r.Faults, d.fault())
	}
	for range d.IntN(4) {
		r.Reclaims = append(r.Reclaims, d.reclaim())
	}
	d.lived++
	if r.Operation == Destroy {
		d.lived = 0
	}
	return r
}

// nextTerms draws what the configuration says: the sizes change often, the image
// every third time, and always in the third round of a pool.
func (d *drawing) nextTerms(n int) {
	t := &d.terms
	if n == 0 || d.oneIn(2) {
		t.Minimum = 1 + d.IntN(3)
		t.Maximum = t.Minimum + d.IntN(4)
	}
	if d.lived == 2 || d.oneIn(3) {
		t.Image++
	}
	if d.lived == 2 || n == 0 || d.oneIn(3) {
		t.Strategy = []string{None, Rolling, Rolling, Opportunistic}[d.IntN(4)]
		t.Surge, t.Unavailable = d.IntN(3), d.IntN(2)
	}
	if d.lived == 2 {
		t.Strategy = Rolling
	}
	*t = t.lawful()
}

func (d *drawing) weather(operation Operation) Weather {
	w := Weather{
		LaunchDelay: d.between(50*time.Millisecond, 300*time.Millisecond),
		Pace:        []time.Duration{time.Second, 5 * time.Second, 20 * time.Second, 60 * time.Second}[d.IntN(4)],
	}
	if d.oneIn(3) { // so that runs that wait are there for long
		w.LaunchDelay = d.between(time.Second, 3*time.Second)
	}
	if operation == Destroy { // it waits for what listings may yet show
		w.Pace = 60 * time.Second
	}
	if d.oneIn(2) {
		w.ListingDelay = d.between(0, time.Minute)
	}
	if d.oneIn(2) {
		w.TagDelay = d.between(0, time.Minute)
	}
	w.TerminateDelay = d.between(50*time.Millisecond, 1500*time.Millisecond)
	for _, delay := range []*time.Duration{&w.LaunchDelay, &w.TerminateDelay} { // as long of our time
		*delay = time.Duration(delay.Seconds() * float64(w.Pace))
	}
	for range d.IntN(3) {
		w.Jumps = append(w.Jumps, Jump{At: d.between(0, 2*time.Second), By: d.between(time.Second, 4*time.Minute).Round(time.Second)})
	}
	return w
}

// unsettle draws what is wrong before a round begins.
func (d *drawing) unsettle(r *Round) {
	if d.lived == 0 {
		return
	}
	switch d.IntN(10) {
	case 0:
		r.Loss = LostJournal
	case 1:
		if r.Operation == Apply {
			r.Loss = LostStore
		}
	case 2, 3:
		r.Stopping = d.IntN(2)
		r.Protected = 1 - r.Stopping
		if r.Operation == Apply { // a lower maximum than can be had
			d.terms.Minimum, d.terms.Maximum = 1, max(1, d.terms.Maximum-2)
			d.terms = d.terms.lawful()
			r.Terms = d.terms
		}
	case 4:
		r.Stock = int64(d.IntN(3))
	}
}

func (d *drawing) reclaim() Reclaim {
	return Reclaim{
		At: d.between(0, 4*time.Second) * time.Duration(min(1, d.IntN(3))), Count: 1 + d.IntN(2),
		Notice: time.Duration(d.IntN(2)*d.IntN(60)) * time.Second,
		View:   []string{cvmsim.ViewVanish, cvmsim.ViewTerminating, cvmsim.ViewShutdown}[d.IntN(3)],
	}
}
