package journal

import (
	"cmp"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
)

// Update is a journal that is up to date with an observation, and what was found.
type Update struct {
	Journal Journal
	// Found are the pool's own instances, in the order of the journal's entries.
	Found []fleet.OwnInstance
	Nodes node.Matches
	// Messages say what happened to instances since the journal was written.
	Messages reason.Reasons
}

// Update updates the journal from an observation. The same observation changes nothing a
// second time.
func (j Journal) Update(d spotpool.Declaration, o spotpool.Observation, g spotpool.Gate, now time.Time) Update {
	u := Update{Found: j.Own(d, o, now)}
	instances := make([]spotpool.Instance, len(u.Found))
	for n, i := range u.Found {
		instances[n] = i.Instance
	}
	u.Nodes = node.MatchNodes(spotpool.NodeInstances(instances), o.Cluster, d.Nodes != nil && d.Nodes.MatchAddress)
	j.Object, j.UID = d.Object(), d.UID
	j.AcceptedConfigurations, j.AcceptedUnder = accepted(j.AcceptedConfigurations, j.AcceptedUnder, d.Configuration)
	e := fleet.Evidence{Found: u.Found, Nodes: u.Nodes, Launched: j.Candidates(instances), Cost: j.Prices.Of}
	foreign := 0
	for _, i := range instances {
		if _, recorded := j.Of(i.ID); !recorded && !e.Launched[i.ID] {
			foreign++
		}
	}
	s, effects := j.Launches.Update(d.UID, instances, now)
	j.Launches = s
	for _, effect := range effects {
		j = j.recordEffect(effect)
	}
	changed := j.Fleet.Update(j.about(now), d, o, e)
	j = j.withFleet(changed.Fleet, changed.Events)
	j.Baseline = j.baseline(d.Minimum, foreign)
	j.Cooldowns = j.Cooldowns.At(now)
	for _, ending := range changed.Endings {
		u.Messages = append(u.Messages, ending.Reason())
		if c, ok := cooldown(ending, now.Add(time.Duration(d.Cooldown))); ok {
			j.Cooldowns = j.Cooldowns.Add(c)
		}
	}
	j.EarlyFailures = streak(j.EarlyFailures, d, j.AcceptedConfigurations, changed.Proven)
	j = j.recordDeclaration(d, now).recordGate(d, g, now)
	recorded := make([]spotpool.Market, len(j.Known))
	for n, k := range j.Known {
		recorded[n] = k.Market
	}
	prices, events := j.Prices.Update(j.about(now), recorded, instances, spotpool.OffersByMarket(o.Offers),
		cmp.Or(o.Currency, d.Currency), d.Currency)
	j.Prices = prices
	u.Journal = j.with(events...)
	return u
}

// baseline returns how many instances the pool keeps, after an observation that found some
// that it did not launch. A launch does not raise it. An instance that is gone without a
// replacement lowers it.
func (j Journal) baseline(minimum, foreign int) int {
	there := len(j.Known) + j.Missing()
	if j.Baseline == 0 {
		return max(minimum, there)
	}
	return max(minimum, min(j.Baseline+foreign, there))
}

// cooldown returns that of a market in which instances were lost; ok is false if launches do
// not avoid it.
func cooldown(e fleet.Ending, until time.Time) (c markets.Cooldown, ok bool) {
	c = markets.Cooldown{Market: e.Market, Cause: markets.CausedByLoss, Detail: e.IDs[len(e.IDs)-1], Until: until}
	if e.LaunchFailed {
		c.Cause = markets.CausedByLaunchFailed
	}
	return c, e.LaunchFailed || e.Market.ChargeType == spotpool.Spot
}

// streak returns the streak of instances that failed early. It ends with another
// configuration, or with an instance of this one that joined since and is proven.
func streak(s node.Streak, d spotpool.Declaration, accepted []string, proven []fleet.Proven) node.Streak {
	if d.Nodes == nil || s.Configuration == "" {
		return s
	}
	configurations := spotpool.NewConfigurations(d, accepted)
	works := func(p fleet.Proven) bool {
		return p.JoinedAt.After(s.Since) && !configurations.Drifted(p.ConfigurationTag)
	}
	if configurations.Drifted(s.Configuration) || slices.ContainsFunc(proven, works) {
		return node.Streak{}
	}
	return s
}

// accepted drops the configurations of the import once the declared one changes.
func accepted(tags []string, under string, declared spotpool.Configuration) ([]string, string) {
	if len(tags) == 0 {
		return nil, ""
	}
	if current := spotpool.UnknownConfigurationTag(declared); under == "" || under == current {
		return tags, current
	}
	return nil, ""
}

// recordDeclaration records the generation of the declaration, and reports a change.
func (j Journal) recordDeclaration(d spotpool.Declaration, now time.Time) Journal {
	if d.Generation <= j.Generation {
		return j
	}
	if j.Generation > 0 {
		j = j.with(j.about(now).Updated(d.Generation))
	}
	j.Generation = d.Generation
	return j
}

// recordGate records since when the budget has blocked launches, and reports when that begins
// and ends. It also records since when the budget has certainly been exceeded. If that is
// uncertain, the grace period begins again: an unknown usage terminates no instances.
func (j Journal) recordGate(d spotpool.Declaration, g spotpool.Gate, now time.Time) Journal {
	switch {
	case !d.DrainsForBudget() || !g.Closed || g.Unknown || !g.Certain:
		j.Exceeded = Exceeded{}
	case j.Exceeded.Budget != d.Budget:
		j.Exceeded = Exceeded{Budget: d.Budget, Since: now}
	}
	switch closed := !j.GateClosedSince.IsZero(); {
	case !closed && g.Closed && d.Budget != "":
		j.GateClosedSince = now
		return j.with(j.about(now, g.Reason).Since(history.GateClosed, now))
	case closed && !g.Closed:
		j = j.with(j.about(now).Since(history.GateOpened, j.GateClosedSince))
		j.GateClosedSince = time.Time{}
	}
	return j
}

// Suspend records why the pool replaces no failing nodes, and reports when that begins and
// ends; why is zero if it does. It returns since when it did not, if that ends now.
func (j Journal) Suspend(why reason.Reason, now time.Time) (_ Journal, ended time.Time) {
	switch since := j.SuspendedSince; {
	case since.IsZero() && !why.IsZero():
		j.SuspendedSince = now
		return j.with(j.about(now, why).Since(history.Suspend, now)), ended
	case !since.IsZero() && why.IsZero():
		j.SuspendedSince = time.Time{}
		return j.with(j.about(now).Since(history.Unsuspend, since)), since
	}
	return j, ended
}
