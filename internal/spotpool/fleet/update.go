package fleet

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// endLag bounds how long an instance may run after its termination was requested. One that
// runs for longer was not terminated.
const endLag = 10 * time.Minute

// pastFor is how long former instances stay in the journal, so that later runs know when
// their pods ended.
const pastFor = 48 * time.Hour

// Evidence is the input of an update of a fleet, from an observation and the rest of the journal.
type Evidence struct {
	Found    []OwnInstance
	Nodes    node.Matches
	Launched map[string]bool // instances that a pending launch may have launched
	Cost     func(spotpool.Market) spotpool.Cost
}

// Update is a fleet that is up to date with an observation, and what happened since.
type Update struct {
	Fleet   Fleet // with an entry for each instance found, in the same order
	Events  []history.Event
	Endings []Ending
	Proven  []Proven

	about    history.About
	evidence Evidence
}

// Proven is an instance whose node proved to work.
type Proven struct {
	ConfigurationTag string
	JoinedAt         time.Time
}

// Update updates the fleet: it records new IDs, losses, failed launches and nodes, and
// forgets what is over. The same observation changes nothing a second time.
func (f Fleet) Update(about history.About, d spotpool.Declaration, o spotpool.Observation, e Evidence) Update {
	u := &Update{about: about, evidence: e}
	there := make(map[string]bool, len(e.Found))
	for _, i := range e.Found {
		there[i.ID] = true
	}
	u.Fleet.Past = slices.DeleteFunc(slices.Clone(f.Past), func(p Past) bool { return about.At.Sub(p.GoneAt()) > pastFor || there[p.InstanceID] })
	for _, k := range f.Known {
		if !there[k.InstanceID] {
			u.retire(k)
		}
	}
	u.Fleet.Known = make([]Known, len(e.Found))
	for n, i := range e.Found {
		was, recorded := f.Of(i.ID)
		if !recorded {
			was = Known{InstanceID: i.ID, RecordedAt: about.At}
		}
		u.Fleet.Known[n] = was
		if !i.Unlisted {
			u.Fleet.Known[n] = u.recordListed(was, i, recorded).settle(i.State, i.LaunchedAt, about.At)
			u.reportListed(i, was, u.Fleet.Known[n], recorded)
		}
	}
	u.updateNodes(d)
	u.updateNotices(d)
	u.updatePast(o)
	return *u
}

func (u *Update) report(events ...history.Event) { u.Events = append(u.Events, events...) }

// addEnding adds an instance to the ending of its market and kind.
func (u *Update) addEnding(k Known, launchFailed bool, how reason.Reason) {
	for n := range u.Endings {
		if same := &u.Endings[n]; same.Market == k.Market && same.LaunchFailed == launchFailed && same.how.Same(how) {
			same.IDs = append(same.IDs, k.InstanceID)
			return
		}
	}
	u.Endings = append(u.Endings, Ending{Market: k.Market, IDs: []string{k.InstanceID}, LaunchFailed: launchFailed, how: how})
}

// retire moves an instance to the former ones. Its end is an event, unless its loss was one.
func (u *Update) retire(k Known) {
	switch {
	case !k.Ended:
		why := k.goneReason()
		u.reportLoss(k, why)
		u.addEnding(k, false, why)
		k.NoticedAt = u.about.At
	case k.NoticedAt.IsZero() && !k.EndedAt.IsZero():
		u.report(because(u.about, k.EndReason).Instance(history.End, u.instance(k)))
	}
	if past := k.past(); !past.GoneAt().IsZero() {
		u.Fleet.Past = append(u.Fleet.Past, past)
	}
}

// reportLoss reports an instance that the pool did not terminate. It was reclaimed if a notice
// announced that; else it may have been terminated by hand.
func (u *Update) reportLoss(k Known, why reason.Reason) {
	about := because(u.about, why)
	// Observations have whole seconds, and a launch has the time of its response.
	if !about.At.After(k.RecordedAt) {
		about.At = k.RecordedAt.Add(time.Millisecond)
	}
	kind := history.Lost
	if k.noticed() {
		kind = history.Reclaim
		if !k.Reach.At.IsZero() {
			about.Reasons = append(about.Reasons, k.Reach.Reason())
		}
	}
	u.report(about.Instance(kind, u.instance(k)))
}

func (u *Update) instance(k Known) history.Instance {
	return k.HistoryInstance(u.evidence.Cost(k.Market))
}

// recordListed records the state in which an instance was listed, and a termination that the
// pool did not request. That of an unrecorded instance is not reported.
func (u *Update) recordListed(k Known, i OwnInstance, recorded bool) Known {
	k.Market, k.Seen, k.Tagged = i.Market(), true, k.Tagged || !i.Untagged
	if i.SeqTag > 0 {
		k.SeqTag = i.SeqTag
	}
	failed := i.State == spotpool.StateLaunchFailed
	if k.Ended || !failed && !ends(i) {
		return k
	}
	k.Ended = true
	if recorded && !failed {
		k.NoticedAt = u.about.At
	}
	if recorded || failed {
		u.addEnding(k, failed, k.endReason(i.Instance))
	}
	return k
}

// ends reports whether the instance is terminating.
func ends(i OwnInstance) bool {
	return i.State == spotpool.StateTerminating || i.State == spotpool.StateShutdown
}

// reportListed reports changes of an instance that was listed. If it terminates when it is
// first listed, it may be of a lost journal. So it is reported only if a pending launch may
// have launched it.
func (u *Update) reportListed(i OwnInstance, was, k Known, recorded bool) {
	if !recorded {
		if ends(i) && !u.evidence.Launched[i.ID] {
			return
		}
		about := u.about
		about.At = k.RecordedAt
		u.report(about.Instance(history.Begin, u.instance(k)))
	}
	switch {
	case was.Ended || !k.Ended:
	case i.State == spotpool.StateLaunchFailed:
		u.report(because(u.about, k.endReason(i.Instance)).Instance(history.End, u.instance(k)))
	case ends(i):
		u.reportLoss(k, k.endReason(i.Instance))
	}
}

// settle records since when an instance has been between two states. If it still runs endLag
// after its termination was requested, it was not terminated.
func (k Known) settle(state spotpool.State, launchedAt, now time.Time) Known {
	unended := k.Ended && state == spotpool.StateRunning
	between := state == spotpool.StateStarting || state == spotpool.StateRebooting || state == spotpool.StatePending && launchedAt.IsZero()
	switch {
	case !unended && !between:
		k.UnsettledSince = time.Time{}
	case k.UnsettledSince.IsZero():
		k.UnsettledSince = now
	case unended && now.Sub(k.UnsettledSince) > endLag:
		k.Ended, k.EndedAt, k.NoticedAt, k.UnsettledSince, k.EndReason = false, time.Time{}, time.Time{}, time.Time{}, reason.Reason{}
	}
	return k
}
