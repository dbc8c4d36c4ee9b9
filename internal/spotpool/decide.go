package spotpool

import (
	"fmt"
	"slices"
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

// Run is what one run has done to a pool so far, and what it was refused.
type Run struct {
	Launched  int  // instances asked for, refused launches aside
	Refreshed bool // a batch of a refresh was started
	// Refused are the instances whose end the run asked for in vain. They are not
	// asked for again, and hold nothing else up.
	Refused []string
	// Halted says why the run launches nothing more; empty while it may.
	Halted string
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
	// Decisions stand in the order in which they are to be carried out. A
	// launch never counts on the room that a termination of the same plan makes.
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
	// Gate is the situation's.
	Gate Gate
	// Refusal says why nothing can be decided: the observation is of another
	// account or region than the pool. Everything else is then empty.
	Refusal string
}

// Decide says what to do about a pool. It is a pure function: the same
// situation always gives the same plan, tokens included.
//
// It never launches more than maximum less held, never counts or ends an
// instance that is not the pool's own, and decides nothing where minimum is
// held, maximum is not passed and nothing is to be replaced.
func Decide(s Situation) Plan {
	s.Declaration = s.Declaration.WithDefaults()
	d, o := s.Declaration, s.Observation
	if refusal := mismatch(d, o); refusal != "" {
		return Plan{Counts: count(d, nil, 0), Journal: s.Journal, Refusal: refusal}
	}
	found := sight(d, s.Journal, o, s.Now)
	journal, notices := absorb(d, s.Journal, found, s.Now)
	c := newChooser(s, found, journal)
	c.plan.Notices, c.plan.Gate = notices, s.Gate
	c.plan.Journal.ShortSince = shortSince(s, c)
	if s.Run.Halted == "" {
		c.resume()
	}
	c.trim()
	c.topUp()
	c.replace()
	c.warn()
	return c.plan
}

// mismatch says what keeps an observation from being one of the pool.
func mismatch(d Declaration, o Observation) string {
	switch {
	case o.AccountID != "" && d.AccountID != "" && o.AccountID != d.AccountID:
		return fmt.Sprintf("%s belongs to account %s, and what was observed to account %s: use the credentials of account %s", d.Object(), d.AccountID, o.AccountID, d.AccountID)
	case o.Region != "" && o.Region != d.Region:
		return fmt.Sprintf("%s is in %s, and what was observed in %s", d.Object(), d.Region, o.Region)
	}
	return ""
}

// shortSince is since when the pool has been short of instances that it tried to
// have. Launches that come to nothing don't end that: only running instances do.
func shortSince(s Situation, c *chooser) time.Time {
	since := c.plan.Journal.ShortSince
	switch {
	case s.Gate.Closed || c.running >= s.Declaration.Minimum:
		return time.Time{}
	case since.IsZero() && c.plan.Shortfall > 0:
		return s.Now
	}
	return since
}

// chooser gathers the decisions of one plan. Its numbers change as decisions are
// added, so that later ones see the effect of earlier ones.
type chooser struct {
	Situation
	plan   Plan
	offers map[Market]Offer

	unseen   int // instances that open intents may have launched, not seen yet
	launched int // instances that this plan's new launches ask for
	running  int // instances that work, and whose end was not asked for
	coming   int // the capacity once everything asked for and decided is there

	ending   map[string]bool
	byCharge map[ChargeType]int // held and asked for, less what ends
	byZone   map[string]int     // likewise
	asked    map[Market]int     // by this plan's new launches
	vCPUs    map[string]int     // spot vCPUs asked for, by zone
	spent    Price              // an hour: held and asked for
	unpriced string             // a held instance whose price is not known
	sequence int64              // the last one given away
	seqTags  map[int64]bool     // values of gpupool/seq that are in use; nil until one is wanted
	doubtful []string           // instances with the pool's uid that contradict themselves
}

func newChooser(s Situation, found []sighting, j Journal) *chooser {
	c := &chooser{
		Situation: s, offers: s.Observation.offersFor(s.Declaration, found),
		ending: map[string]bool{}, byCharge: map[ChargeType]int{}, byZone: map[string]int{}, asked: map[Market]int{}, vCPUs: map[string]int{},
		sequence: j.LastSequence,
	}
	for _, intent := range j.Intents {
		r, n := intent.Request, intent.missing()
		c.unseen += n
		c.reserve(r.Offering, r.ChargeType, n)
	}
	list := members(s, found, j, c.offers)
	c.plan = Plan{Counts: count(s.Declaration, list, c.unseen), Members: list, Journal: j}
	c.doubtful = contradictions(s.Declaration, s.Observation)
	c.coming += c.plan.Capacity
	for _, m := range list {
		if !m.held() {
			continue
		}
		c.byCharge[m.ChargeType]++
		c.byZone[m.AvailabilityZone]++
		price := c.costOf(m)
		if c.spent += price; price == 0 && c.unpriced == "" {
			c.unpriced = m.ID
		}
		if m.Condition == Running && !m.Ending {
			c.running++
		}
	}
	return c
}

// reserve counts n instances that are asked for.
func (c *chooser) reserve(o Offering, charge ChargeType, n int) {
	c.coming += n
	c.byCharge[charge] += n
	c.byZone[o.AvailabilityZone] += n
	c.spent += Price(n) * c.priceOf(o, charge)
	if charge == Spot {
		c.vCPUs[o.AvailabilityZone] += n * c.offers[o.Market(charge)].VCPUs
	}
}

// priceOf is what an instance of an offering costs at most: its market price,
// or its cap while that is unknown.
func (c *chooser) priceOf(o Offering, charge ChargeType) Price {
	if price := c.offers[o.Market(charge)].Price; price > 0 || charge != Spot {
		return price
	}
	return o.MaxPrice
}

// costOf is what a member costs at most: its market price, or the cap it was
// launched under while that is unknown.
func (c *chooser) costOf(m Member) Price {
	if m.Price > 0 {
		return m.Price
	}
	for _, o := range c.Declaration.Offerings {
		if o.Market(Spot) == m.Market() {
			return o.MaxPrice
		}
	}
	return 0
}

// room is how many more instances may be launched. What this plan ends is still
// held: it makes room once it is seen to go.
func (c *chooser) room() int {
	d := c.Declaration
	return max(0, min(d.Maximum-c.plan.Held-c.launched, d.MaxLaunchesPerRun-c.Run.Launched-c.launched))
}

// short notes why the pool stays short, once.
func (c *chooser) short(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(c.plan.Short, text) {
		c.plan.Short = append(c.plan.Short, text)
	}
}

func (c *chooser) warnf(format string, args ...any) {
	c.plan.Warnings = append(c.plan.Warnings, fmt.Sprintf(format, args...))
}

// resume repeats each launch whose outcome was never learned, unless some of
// its instances were seen: then it took effect, and the rest will show.
func (c *chooser) resume() {
	for _, intent := range c.plan.Journal.Intents {
		r := intent.Request
		if !intent.repeatable() {
			c.short("launch %d shows %d of its %d instances so far", r.Sequence, len(intent.Seen), r.Count)
			continue
		}
		c.plan.Decisions = append(c.plan.Decisions, Decision{
			Kind: Launch, Object: c.Declaration.Object(), Count: r.Count,
			Offering: &r.Offering, ChargeType: r.ChargeType, Sequence: r.Sequence, Token: r.Token,
			Resume: true, Request: &r,
			Reasons: []string{fmt.Sprintf("launch %d was written down at %s and its outcome is unknown: the same request gives the same instances", r.Sequence, instant(intent.WrittenAt))},
		})
	}
}
