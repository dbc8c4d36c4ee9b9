package fleet

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// endLag bounds how long an instance may be observed running after its termination was
// requested. One that runs for longer does not end.
const endLag = 10 * time.Minute

// pastFor is how long instances that are gone stay in the journal, so that later runs can
// tell when what ran on them ended.
const pastFor = 48 * time.Hour

// Evidence is what an observation shows of a fleet, and what the other parts of its
// journal know.
type Evidence struct {
	Found    []OwnInstance
	Nodes    node.Matches
	Launched map[string]bool // instances that a pending launch may have made
	Price    func(spotpool.Market) spotpool.Price
}

// Update is a fleet that is up to date with an observation, and what happened to it since.
type Update struct {
	Fleet   Fleet // with an entry for each instance found, in the same order
	Events  []history.Event
	Endings []Ending
	Joined  []string // the configuration tags of instances that joined the cluster

	about    history.About
	evidence Evidence
}

// Update brings the fleet up to date: it records new ids, reclaims, failed launches and
// what nodes show, and forgets what is over. The same observation changes nothing a
// second time.
func (f Fleet) Update(about history.About, d spotpool.Declaration, o spotpool.Observation, e Evidence) Update {
	u := &Update{about: about, evidence: e}
	there := make(map[string]bool, len(e.Found))
	for _, i := range e.Found {
		there[i.ID] = true
	}
	u.Fleet.Past = slices.DeleteFunc(slices.Clone(f.Past), func(p Past) bool { return about.At.Sub(p.GoneAt()) > pastFor || there[p.InstanceID] })
	for _, k := range f.Known {
		if !there[k.InstanceID] {
			u.gone(k)
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
			u.Fleet.Known[n] = u.listed(was, i, recorded).moving(i.State, i.LaunchedAt, about.At)
			u.reportListed(i, was, u.Fleet.Known[n], recorded)
		}
	}
	u.updateNodes(d)
	u.updateNotices(d)
	u.updatePast(o)
	return *u
}

func (u *Update) report(events ...history.Event) { u.Events = append(u.Events, events...) }

// ended adds an instance to those that end alike.
func (u *Update) ended(k Known, launchFailed bool, what string) {
	for n := range u.Endings {
		if same := &u.Endings[n]; same.Market == k.Market && same.LaunchFailed == launchFailed && same.what == what {
			same.IDs = append(same.IDs, k.InstanceID)
			return
		}
	}
	u.Endings = append(u.Endings, Ending{Market: k.Market, IDs: []string{k.InstanceID}, LaunchFailed: launchFailed, what: what})
}

// gone moves an instance to those that are gone. Its end is an event, unless it was one
// when it began to end.
func (u *Update) gone(k Known) {
	switch {
	case !k.Ended:
		u.lost(k, goneUnasked)
		u.ended(k, false, goneUnasked)
		k.NoticedAt = u.about.At
	case k.NoticedAt.IsZero() && !k.EndedAt.IsZero():
		u.report(because(u.about, k.EndReason).Instance(history.End, u.instance(k)))
	}
	if past := k.past(); !past.GoneAt().IsZero() {
		u.Fleet.Past = append(u.Fleet.Past, past)
	}
}

// lost tells of an instance that ended though the pool did not ask for it.
func (u *Update) lost(k Known, why string) {
	about := because(u.about, why)
	// What is observed is dated by the cloud in whole seconds, and a launch by its answer.
	if !about.At.After(k.RecordedAt) {
		about.At = k.RecordedAt.Add(time.Millisecond)
	}
	if k.ChargeType == spotpool.Spot {
		u.report(about.Instance(history.Reclaim, u.instance(k)))
		return
	}
	u.report(about.Instance(history.End, u.instance(k)))
}

func (u *Update) instance(k Known) history.Instance {
	return k.HistoryInstance(u.evidence.Price(k.Market))
}

// listed records the state in which an instance was listed, and that it ends unasked. Of
// an instance that was not recorded before, the end is no news.
func (u *Update) listed(k Known, i OwnInstance, recorded bool) Known {
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
		u.ended(k, failed, endReason(i.Instance))
	}
	return k
}

// ends reports whether the cloud ends the instance.
func ends(i OwnInstance) bool {
	return i.State == spotpool.StateTerminating || i.State == spotpool.StateShutdown
}

// reportListed reports what is new of an instance that was listed. One that ends already
// when it is first listed is news only if a pending launch may have made it: else it is
// of a journal that was lost.
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
		u.report(because(u.about, endReason(i.Instance)).Instance(history.End, u.instance(k)))
	case ends(i):
		u.lost(k, endReason(i.Instance))
	}
}

// moving records since when an instance has been between two states. One that still
// runs endLag after its termination was requested does not end.
func (k Known) moving(state spotpool.State, launchedAt, now time.Time) Known {
	unended := k.Ended && state == spotpool.StateRunning
	between := state == spotpool.StateStarting || state == spotpool.StateRebooting || state == spotpool.StatePending && launchedAt.IsZero()
	switch {
	case !unended && !between:
		k.UnsettledSince = time.Time{}
	case k.UnsettledSince.IsZero():
		k.UnsettledSince = now
	case unended && now.Sub(k.UnsettledSince) > endLag:
		k.Ended, k.EndedAt, k.NoticedAt, k.UnsettledSince, k.EndReason = false, time.Time{}, time.Time{}, time.Time{}, ""
	}
	return k
}
