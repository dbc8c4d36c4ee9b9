package spotpool

import (
	"cmp"
	"slices"
	"time"
)

// Condition is what a pool makes of an instance's state.
type Condition string

// The conditions. Running and launching instances are capacity; all but failed
// and terminating ones are held.
const (
	Running     Condition = "running"
	Launching   Condition = "launching"
	Stuck       Condition = "stuck"      // launching for longer than the launch timeout
	Restricted  Condition = "restricted" // running, but expired or isolated
	Stopped     Condition = "stopped"
	Isolated    Condition = "isolated" // in the recycle bin, to be destroyed
	Failed      Condition = "failed"   // its launch failed
	Terminating Condition = "terminating"
	Unusable    Condition = "unusable" // any state that is none of the above
)

// Member is one of a pool's own instances, as the pool sees it.
type Member struct {
	Instance
	Condition Condition `json:"condition"`
	Outdated  bool      `json:"outdated"` // its configuration is known to differ from the declared one
	Price     Price     `json:"hourly_price"`
}

func (m Member) held() bool     { return m.Condition != Failed && m.Condition != Terminating }
func (m Member) capacity() bool { return m.Condition == Running || m.Condition == Launching }

// terminable leaves out what must not be ended, and what the cloud refuses to
// end: pending instances and failed launches.
func (m Member) terminable() bool {
	return m.held() && !m.Protected && !m.APIProtected && m.State != StatePending
}

// Counts are the numbers of a pool that decisions compare.
type Counts struct {
	Minimum   int `json:"minimum"`
	Maximum   int `json:"maximum"`
	Capacity  int `json:"capacity"`
	Held      int `json:"held"`
	Shortfall int `json:"shortfall"`
	Outdated  int `json:"outdated"`
	// HourlyPrice is what the held instances cost at present prices; unknown
	// prices count as nothing.
	HourlyPrice Price `json:"hourly_price"`
}

// Own filters the instances that are the pool's own: uid, region and account
// must agree. It drops repeated ids, and sorts by id.
func Own(d Declaration, o Observation) []Instance {
	var own []Instance
	for _, i := range o.Instances {
		if d.UID != "" && i.PoolUID == d.UID && i.Region == d.Region && i.AccountID == d.AccountID {
			own = append(own, i)
		}
	}
	slices.SortFunc(own, func(a, b Instance) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(own, func(a, b Instance) bool { return a.ID == b.ID })
}

// members judges each of the pool's own instances.
func members(s Situation, own []Instance, j Journal) []Member {
	configs := newConfigurations(s.Declaration, j.AcceptedConfigurations)
	unsettled := make(map[string]time.Time, len(j.Known))
	for _, k := range j.Known {
		unsettled[k.InstanceID] = k.UnsettledSince
	}
	list := make([]Member, len(own))
	for n, i := range own {
		offer, _ := s.Observation.offer(i.market())
		list[n] = Member{
			Instance:  i,
			Condition: condition(i, unsettled[i.ID], s.Declaration.LaunchTimeout, s.Now),
			Outdated:  configs.outdated(i.ConfigurationTag),
			Price:     offer.Price,
		}
	}
	return list
}

func condition(i Instance, unsettledSince time.Time, timeout Duration, now time.Time) Condition {
	since := i.LaunchedAt
	switch i.State {
	case StateRunning:
		if i.Restricted {
			return Restricted
		}
		return Running
	case StateStarting, StateRebooting:
		since = unsettledSince
		fallthrough
	case StatePending:
		if !since.IsZero() && now.Sub(since) >= time.Duration(timeout) {
			return Stuck
		}
		return Launching
	case StateLaunchFailed:
		return Failed
	case StateTerminating:
		return Terminating
	case StateShutdown:
		return Isolated
	case StateStopped, StateStopping:
		return Stopped
	}
	return Unusable
}

// count adds up the members and the intents whose instances are not seen yet.
func count(d Declaration, list []Member, unseen int) Counts {
	c := Counts{Minimum: d.Minimum, Maximum: d.Maximum, Held: unseen}
	for _, m := range list {
		if !m.held() {
			continue
		}
		c.Held++
		c.HourlyPrice += m.Price
		if m.capacity() {
			c.Capacity++
		}
		if m.Outdated {
			c.Outdated++
		}
	}
	c.Shortfall = max(0, c.Minimum-c.Capacity)
	return c
}

// unseenCount is how many instances open intents may have launched beside those
// that already carry their sequence.
func unseenCount(j Journal, own []Instance) int {
	visible := map[int64]int{}
	for _, i := range own {
		visible[i.Sequence]++
	}
	n := 0
	for _, intent := range j.Intents {
		n += max(0, intent.Request.Count-visible[intent.Request.Sequence])
	}
	return n
}
