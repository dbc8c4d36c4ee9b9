package schedule

import (
	"math/bits"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
)

// Of is the schedule of a seed: the same seed always gives the same one.
func Of(seed uint64, rounds int) Schedule {
	s := rapid.Custom(func(t *rapid.T) Schedule { return Draw(t, rounds, rounds) }).Example(int(seed)) //nolint:gosec // any number will do
	s.Seed = seed
	return s
}

// Draw draws a schedule. The first rounds create a pool, change its image and destroy it,
// so that a short schedule has some of each, too.
func Draw(t *rapid.T, least, most int) Schedule {
	var s Schedule
	was := standing{}
	for _, drawn := range rapid.SliceOfN(rapid.Custom(func(t *rapid.T) turn { return drawing{t}.turn() }), least, most).Draw(t, "rounds") {
		s.Rounds = append(s.Rounds, was.next(drawn, len(s.Rounds) == 0))
	}
	return s
}

// turn is a round as it is drawn. Its effect depends on the rounds before it.
type turn struct {
	Round

	resizes, renews, restyles, imports, destroys bool
}

// standing is the state after the rounds so far.
type standing struct {
	terms Terms
	lived int // rounds since the pool was created
}

func (s *standing) next(t turn, first bool) Round {
	r := t.Round
	if s.lived > 1 && (t.destroys || s.lived > 4) {
		r.Operation = Destroy
	}
	if s.lived == 0 {
		r.Loss, r.Stopping, r.Protected, r.Stock = "", 0, 0, nil
		if t.imports { // a creation that is killed
			r.Remedy = ByImport
		}
	}
	if r.Operation == Destroy {
		r.Terms = s.terms
		if r.Loss == LostStore {
			r.Loss = ""
		}
		if k := r.Terraform.Kill; k != nil && k.Point == "RunInstances" { // it makes few
			k.Point = "TerminateInstances"
		}
		s.lived = 0
		return r
	}
	r.Terms = s.changed(t, first)
	s.terms = r.Terms
	s.lived++
	return r
}

// changed returns the next configuration: sizes change often, and the image every third time,
// and always in the second round of a pool.
func (s *standing) changed(t turn, first bool) Terms {
	is := s.terms
	if first || t.resizes {
		is.Minimum, is.Maximum = t.Terms.Minimum, t.Terms.Maximum
	}
	if s.lived == 1 || t.renews {
		is.Image++
	}
	if first || s.lived == 1 || t.restyles {
		is.Strategy, is.Surge, is.Unavailable = t.Terms.Strategy, t.Terms.Surge, t.Terms.Unavailable
	}
	if s.lived == 1 {
		is.Strategy = Rolling
	}
	if s.lived > 0 && t.Stopping+t.Protected > 0 { // a lower maximum than can be had
		is.Minimum, is.Maximum = 1, max(1, is.Maximum-2)
	}
	return is.lawful()
}

// drawing draws from a list of choices, whose first is the simplest. Unlike rapid's own ranges
// it does not favor small ones.
type drawing struct{ *rapid.T }

func (d drawing) upTo(n int) int {
	return rapid.Custom(func(t *rapid.T) (v int) {
		for range bits.Len(uint(n)) + 3 {
			v *= 2
			if rapid.Bool().Draw(t, "bit") {
				v++
			}
		}
		return v % n
	}).Draw(d.T, "choice")
}

// oneIn is true once in n times.
func (d drawing) oneIn(n int) bool { return d.upTo(n) == n-1 }

// between draws a length of time, the shortest first.
func (d drawing) between(from, to time.Duration) Duration {
	const steps = 60
	return Duration((from + (to-from)*time.Duration(d.upTo(steps+1))/steps).Round(time.Millisecond))
}

func oneOf[T any](d drawing, list ...T) T { return list[d.upTo(len(list))] }

func (d drawing) turn() turn {
	t := turn{
		Round:   Round{Operation: Apply, Remedy: oneOf(d, ByReconcile, ByReconcile, ByTerraform, ByImport)},
		resizes: d.oneIn(2), renews: d.oneIn(3), restyles: d.oneIn(3), imports: d.oneIn(2), destroys: d.oneIn(3),
	}
	t.Terms = Terms{
		Minimum: 1 + d.upTo(3), Strategy: oneOf(d, None, Rolling, Rolling, Opportunistic), Surge: d.upTo(3), Unavailable: d.upTo(2),
	}
	t.Terms.Maximum = t.Terms.Minimum + d.upTo(4)
	t.Weather = d.weather()
	d.unsettle(&t.Round)
	d.processes(&t.Round)
	t.Faults = append(t.Faults, d.faults()...)
	for range d.upTo(4) {
		t.Reclaims = append(t.Reclaims, d.reclaim())
	}
	return t
}

func (d drawing) weather() Weather {
	pace := oneOf[Duration](d, 1, 5, 20, 60)
	w := Weather{Pace: pace * Duration(time.Second)}
	if d.oneIn(2) {
		w.ListingDelay = d.between(0, time.Minute)
	}
	if d.oneIn(2) {
		w.TagDelay = d.between(0, time.Minute)
	}
	// As long for the processes at any pace.
	w.LaunchDelay, w.TerminateDelay = pace*d.between(50*time.Millisecond, 300*time.Millisecond), pace*d.between(50*time.Millisecond, 1500*time.Millisecond)
	for range d.upTo(3) {
		w.Jumps = append(w.Jumps, Jump{At: d.between(0, 2*time.Second), By: d.between(time.Second, 4*time.Minute)})
	}
	return w
}

// unsettle draws what is wrong before a round begins.
func (d drawing) unsettle(r *Round) {
	switch d.upTo(10) {
	case 9:
		r.Loss = LostJournal
	case 8:
		r.Loss = LostStore
	case 7:
		r.Stopping = 1
	case 6:
		r.Protected = 1
	case 5:
		r.Stock = new(int64(d.upTo(3)))
	}
}

func (d drawing) reclaim() Reclaim {
	return Reclaim{
		At: oneOf(d, 0, d.between(0, 4*time.Second), d.between(0, 4*time.Second)), Count: 1 + d.upTo(2),
		Notice: Duration(oneOf(d, 0, time.Duration(d.upTo(60))*time.Second)),
		View:   oneOf(d, cvmsim.ViewVanish, cvmsim.ViewTerminating, cvmsim.ViewShutdown),
	}
}

func (d drawing) processes(r *Round) {
	if d.oneIn(2) { // a run is ahead of it
		r.Terraform.Start = d.between(0, 2*time.Second)
	}
	r.Terraform.Pauses = d.pauses()
	if d.oneIn(2) {
		r.Terraform.Kill = d.kill(2500 * time.Millisecond)
		r.Terraform.Kill.Victim = oneOf(d, Both, Both, Both, Core, Provider)
		if r.Terraform.Kill.Point == "RunInstances" && d.oneIn(2) {
			d.refuseAgain(r)
		}
	}
	for n := range 2 {
		p := Process{Start: d.between(0, 1800*time.Millisecond), Wait: n == 0, Pauses: d.pauses()}
		if d.oneIn(3) {
			p.Kill = d.kill(400 * time.Millisecond)
		}
		r.Reconciles = append(r.Reconciles, p)
	}
}

func (d drawing) pauses() (pauses []Duration) {
	for range d.upTo(3) {
		pauses = append(pauses, d.between(0, 300*time.Millisecond))
	}
	return pauses
}

// CloudPoints are the calls, and StorePoints the store's writes, at which kills come.
var (
	CloudPoints = []string{"RunInstances", "DescribeInstances", "GetCallerIdentity", "TerminateInstances"}
	StorePoints = []string{"Write journals", "Write spot_pools", "Write tombstones", "Delete journals", "Delete spot_pools"}
)

func (d drawing) kill(longest time.Duration) *Kill {
	k := &Kill{Victim: Both, At: d.between(0, longest)}
	if d.oneIn(3) {
		return k
	}
	k.Point = oneOf(d, "RunInstances", "RunInstances", "DescribeInstances", "DescribeInstances", "Write journals", "Write journals",
		oneOf(d, CloudPoints...), oneOf(d, StorePoints...))
	k.Nth, k.After = 1+d.upTo(2), d.oneIn(2)
	return k
}

// refuseAgain has a launch that was interrupted refused when it is repeated, while no
// listing shows what it may have made.
func (d drawing) refuseAgain(r *Round) {
	f := cvmsim.Fault{Kind: cvmsim.FaultSoldOut, Action: "RunInstances", After: r.Terraform.Kill.Nth, Count: 1 + d.upTo(3)}
	if d.oneIn(2) {
		f.Kind, f.Code = cvmsim.FaultError, codes[2]
	}
	r.Faults = append(r.Faults, f)
	r.Weather.ListingDelay, r.Weather.TagDelay = Duration(time.Minute), d.between(0, time.Minute)
}

// actions are those that gpupool calls for a pool, the more important ones more than once.
var actions = []string{
	"RunInstances", "RunInstances", "RunInstances", "DescribeInstances", "DescribeInstances", "TerminateInstances",
	"TerminateInstances", "GetCallerIdentity", "DescribeZoneInstanceConfigInfos", "DescribeAccountQuota", "*",
}

// codes are those of faults of the kind error.
var codes = []string{
	"InternalError", "UnauthorizedOperation", "LimitExceeded.UserSpotQuota", "InvalidParameterValue.InsufficientPrice", "RequestLimitExceeded.UinLimitExceeded",
}

func (d drawing) faults() (list []cvmsim.Fault) {
	for range d.upTo(4) {
		list = append(list, d.fault())
	}
	return list
}

func (d drawing) fault() cvmsim.Fault {
	f := cvmsim.Fault{Kind: oneOf(d, api.FaultKinds...), Action: oneOf(d, actions...), After: d.upTo(4), Count: 1 + d.upTo(d.upTo(6)+1)}
	switch f.Kind {
	case cvmsim.FaultSoldOut, cvmsim.FaultLaunchFailed, cvmsim.FaultLaunchHangs:
		f.Action = "RunInstances"
	case cvmsim.FaultError:
		f.Code = oneOf(d, codes...)
	case cvmsim.FaultSlow, cvmsim.FaultTimeout, cvmsim.FaultTimeoutAfter: // of the processes' time
		f.Delay, f.Count = d.between(200*time.Millisecond, 1200*time.Millisecond), 1+d.upTo(2)
	case cvmsim.FaultSlowAcceptance, cvmsim.FaultSlowAnswer: // of the world's
		f.Delay = d.between(time.Second, 4*time.Minute)
	}
	return f
}
