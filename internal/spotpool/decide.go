package spotpool

import (
	"fmt"
	"time"
)

// MaxBatch is the most instances one launch asks for: as many as one
// DescribeInstances by ids can show (RunInstances itself allows 500).
const MaxBatch = 100

// Gate holds a pool's launches back.
type Gate struct {
	Closed bool   `json:"closed"`
	Reason string `json:"reason"`
}

// Run is what one run has done to a pool so far.
type Run struct {
	Launched  int  // instances asked for
	Refreshed bool // a batch of a refresh was started
}

// Situation is everything that decisions about a pool depend on.
type Situation struct {
	Declaration Declaration
	Observation Observation
	Journal     Journal
	Now         time.Time // by the cloud's clock
	Run         Run
	Gate        Gate
}

// Plan is what to do about a situation, and why no more than that.
type Plan struct {
	Counts
	Decisions []Decision
	Members   []Member
	// Journal is the situation's journal brought up to date with the
	// observation. Decisions are not in it yet.
	Journal Journal
	// Notices say what became of instances since the journal was written.
	Notices []string
	// Short says why the pool stays below its minimum, or its instances
	// outdated, after these decisions.
	Short []string
	// Warnings need a person's eye and stop nothing.
	Warnings []string
}

// Decide says what to do about a pool. It is a pure function: the same
// situation always gives the same plan, tokens included.
//
// It never launches more than maximum less held, never counts or ends an
// instance that is not the pool's own, and decides nothing where minimum is
// held, maximum is not passed and nothing is to be replaced.
func Decide(s Situation) Plan {
	s.Declaration = s.Declaration.WithDefaults()
	own := Own(s.Declaration, s.Observation)
	journal, notices := absorb(s.Declaration, s.Journal, own, s.Now)
	list := members(s, own, journal)
	unseen := unseenCount(journal, own)
	c := &chooser{
		Situation: s,
		plan: Plan{
			Counts:  count(s.Declaration, list, unseen),
			Members: list, Journal: journal, Notices: notices,
		},
		unseen: unseen,
	}
	if c.plan.Shortfall == 0 {
		c.plan.Journal.ShortSince = time.Time{}
	} else if c.plan.Journal.ShortSince.IsZero() {
		c.plan.Journal.ShortSince = s.Now
	}
	c.resume()
	c.trim()
	c.replace()
	c.topUp()
	c.warn()
	return c.plan
}

// chooser gathers the decisions of one plan. held, capacity and the rest change
// as decisions are added, so that later ones see the effect of earlier ones.
type chooser struct {
	Situation
	plan   Plan
	unseen int // instances that open intents may have launched, not seen yet

	ending    map[string]bool
	launching int // instances that this plan's new launches ask for
	zones     map[string]int
	spending  Price
}

func (c *chooser) held() int { return c.plan.Held - len(c.ending) + c.launching }

// prospects is the capacity once everything decided and asked for is there.
func (c *chooser) prospects() int {
	n := c.plan.Capacity + c.unseen + c.launching
	for _, m := range c.plan.Members {
		if c.ending[m.ID] && m.capacity() {
			n--
		}
	}
	return n
}

// room is how many more instances may be launched.
func (c *chooser) room() int {
	d := c.Declaration
	return max(0, min(d.Maximum-c.held(), d.MaxLaunchesPerRun-c.Run.Launched-c.launching))
}

// resume repeats each launch whose outcome was never learned, unless some of
// its instances are there: then it took effect, and the rest will show.
func (c *chooser) resume() {
	visible := map[int64]int{}
	for _, m := range c.plan.Members {
		visible[m.Sequence]++
	}
	for _, intent := range c.plan.Journal.Intents {
		r := intent.Request
		if n := visible[r.Sequence]; n > 0 {
			c.plan.Short = append(c.plan.Short, fmt.Sprintf("launch %d shows %d of its %d instances so far", r.Sequence, n, r.Count))
			continue
		}
		c.plan.Decisions = append(c.plan.Decisions, Decision{
			Kind: Launch, Object: c.Declaration.Object(), Count: r.Count,
			Offering: &r.Offering, ChargeType: r.ChargeType, Sequence: r.Sequence, Token: r.Token,
			Resume: true, Request: &r,
			Reasons: []string{fmt.Sprintf("launch %d was asked for at %s and its outcome is unknown", r.Sequence, intent.WrittenAt.UTC().Format(time.RFC3339))},
		})
	}
}

// topUp launches what is missing to the minimum: on-demand up to the base, the
// rest as declared, and on-demand again where spot has failed for long enough.
func (c *chooser) topUp() {
	missing := c.Declaration.Minimum - c.prospects()
	if missing <= 0 {
		return
	}
	reason := fmt.Sprintf("capacity %d is below minimum %d", c.plan.Capacity, c.Declaration.Minimum)
	if c.Gate.Closed {
		c.plan.Short = append(c.plan.Short, c.Gate.Reason)
		return
	}
	if room := c.room(); room < missing {
		c.explainRoom(missing - room)
		missing = room
	}
	d := c.Declaration
	onDemand := c.heldOf(OnDemand)
	if base := min(missing, d.OnDemandBase-onDemand); d.InstanceChargeType == Spot && base > 0 {
		missing -= c.launch(base, OnDemand, false, reason, fmt.Sprintf("on-demand base %d", d.OnDemandBase))
		onDemand = c.heldOf(OnDemand)
	}
	missing -= c.launch(missing, d.InstanceChargeType, false, reason)
	if f := d.OnDemandFallback; f != nil && missing > 0 && d.InstanceChargeType == Spot {
		spare := f.Maximum - max(0, onDemand-d.OnDemandBase)
		if due := c.plan.Journal.ShortSince.Add(time.Duration(f.After)); c.Now.Before(due) {
			c.plan.Short = append(c.plan.Short, fmt.Sprintf("on-demand takes over at %s", due.UTC().Format(time.RFC3339)))
		} else if spare > 0 {
			c.launch(min(missing, spare), OnDemand, false, reason, fmt.Sprintf("no spot instance could be had for %s", f.After))
		}
	}
}

// explainRoom says what keeps n instances from being launched.
func (c *chooser) explainRoom(n int) {
	d := c.Declaration
	if d.Maximum-c.held() < d.MaxLaunchesPerRun-c.Run.Launched-c.launching {
		c.plan.Short = append(c.plan.Short, fmt.Sprintf("%d held already, and maximum is %d: no room for %d more", c.held(), d.Maximum, n))
		return
	}
	c.plan.Short = append(c.plan.Short, fmt.Sprintf("max_launches_per_run is %d: %d more wait for the next run", d.MaxLaunchesPerRun, n))
}

// heldOf counts the held instances of one charge type, launches of this plan
// and open intents included.
func (c *chooser) heldOf(charge ChargeType) int {
	n := 0
	for _, m := range c.plan.Members {
		if m.ChargeType == charge && m.held() && !c.ending[m.ID] {
			n++
		}
	}
	for _, d := range c.plan.Decisions {
		if d.Kind == Launch && d.ChargeType == charge {
			n += d.Count
		}
	}
	return n
}

func (c *chooser) warn() {
	for _, m := range c.plan.Members {
		switch m.Condition {
		case Stuck:
			c.warnf("%s has been %s for longer than the launch timeout of %s: it is held but is not capacity", m.ID, m.State, c.Declaration.LaunchTimeout)
		case Restricted, Stopped, Isolated, Unusable:
			c.warnf("%s is %s (%s): it is held but is not capacity", m.ID, m.Condition, m.State)
		}
	}
	for _, i := range c.Observation.Instances {
		if i.PoolUID == c.Declaration.UID && (i.AccountID != c.Declaration.AccountID || i.Region != c.Declaration.Region) {
			c.warnf("%s carries this pool's uid but is of account %s in %s: it is left alone", i.ID, i.AccountID, i.Region)
		}
	}
}

func (c *chooser) warnf(format string, args ...any) {
	c.plan.Warnings = append(c.plan.Warnings, fmt.Sprintf(format, args...))
}
