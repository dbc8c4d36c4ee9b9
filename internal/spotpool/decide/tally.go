package decide

import (
	"maps"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
)

// Tally counts what exists, is requested and is decided so far, so that later rules see the
// effect of earlier ones. Its maps and lists are never changed in place, so that a copy can
// be used for a trial.
type Tally struct {
	// members are the pool's own instances, with what is decided to be replaced.
	members  []Member
	total    int // all instances
	capacity int // those that work or will soon
	coming   int // the capacity once everything that is requested and decided works
	running  int // instances that work, and whose end was not requested
	// available counts those of them that a refresh counts on.
	available int

	byCharge map[spotpool.ChargeType]int // all and requested, less what leaves
	byZone   map[string]int              // likewise
	spent    spotpool.Price              // an hour: all and requested

	launches []spotpool.Decision     // new ones, to which later launches of the same place and reason add
	launched int                     // instances that these launches request
	asked    map[spotpool.Market]int // by these launches
	vCPUs    map[string]int          // spot vCPUs requested, by zone
	sequence int64                   // the last one used
	seqTags  map[int64]bool          // values of gpupool/seq that are in use; nil until one is wanted

	cooldowns markets.Cooldowns // with those of members that this plan begins to replace

	leaving  map[string]bool // members that leave by this plan, or by themselves
	draining map[string]bool // members that are drained first
	paused   bool            // replacements resume in a later plan
}

// reserve counts n instances of an offering as coming.
func (t Tally) reserve(v View, o spotpool.Offering, charge spotpool.ChargeType, n int) Tally {
	t.coming += n
	t.byCharge, t.byZone = plus(t.byCharge, charge, n), plus(t.byZone, o.AvailabilityZone, n)
	t.spent += spotpool.Price(n) * v.priceOf(o, charge)
	if charge == spotpool.Spot {
		t.vCPUs = plus(t.vCPUs, o.AvailabilityZone, n*v.offers[o.Market(charge)].VCPUs)
	}
	return t
}

// leave counts members as leaving.
func (t Tally) leave(list []Member) Tally {
	if len(list) == 0 {
		return t
	}
	t.byCharge, t.byZone, t.leaving = maps.Clone(t.byCharge), maps.Clone(t.byZone), with(t.leaving, list)
	for _, m := range list {
		t.byCharge[m.ChargeType]--
		t.byZone[m.AvailabilityZone]--
		if m.capacity() {
			t.coming--
		}
		if m.runs() {
			t.running--
		}
		if m.Available {
			t.available--
		}
	}
	return t
}

// without returns the tally without these members: their quota, cost and room are free.
func (t Tally) without(v View, list []Member) Tally {
	t.byCharge, t.byZone = maps.Clone(t.byCharge), maps.Clone(t.byZone)
	for _, m := range list {
		t.total--
		t.byCharge[m.ChargeType]--
		t.byZone[m.AvailabilityZone]--
		t.spent -= v.costOf(m)
		if m.ChargeType == spotpool.Spot {
			t.vCPUs = plus(t.vCPUs, m.AvailabilityZone, -v.offers[m.Market()].VCPUs)
		}
	}
	return t
}

// room returns how many more instances may be launched. What this plan terminates is still
// counted: it makes room once a later observation shows it gone.
func (t Tally) room(v View) int {
	d := v.Declaration
	return max(0, min(d.Maximum-t.total-t.launched, d.MaxLaunchesPerRun-v.SoFar.Launched-t.launched))
}

// ends reports whether a member leaves, now or after its drain.
func (t Tally) ends(m Member) bool {
	return m.Ending || m.State.Ending() || t.leaving[m.ID] || t.draining[m.ID] || t.paused && m.Drain.Refresh && m.Drain.Open()
}

// plus returns a copy of counts with n more under a key.
func plus[K comparable](counts map[K]int, key K, n int) map[K]int {
	more := make(map[K]int, len(counts)+1)
	maps.Copy(more, counts)
	more[key] += n
	return more
}

// with returns a copy of a set of IDs with these members.
func with(set map[string]bool, list []Member) map[string]bool {
	more := make(map[string]bool, len(set)+len(list))
	maps.Copy(more, set)
	for _, m := range list {
		more[m.ID] = true
	}
	return more
}
