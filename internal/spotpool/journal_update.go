package spotpool

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// endLag bounds how long an instance may be seen running after its end was asked for.
// One that runs for longer does not end.
const endLag = 10 * time.Minute

// Update is a journal that is up to date with an observation, and what was found for it.
type Update struct {
	Journal Journal
	// Found are the pool's own instances. The journal has an entry for each, in the same
	// order.
	Found []OwnInstance
	Nodes node.Matches
	// Notices say, for people, what happened to instances since the journal was written.
	Notices []string
}

// Update brings the journal up to date with an observation. The same observation changes
// nothing a second time.
func (j Journal) Update(d Declaration, o Observation, g Gate, now time.Time) Update {
	u := Update{Found: ownInstances(d, j, o, now)}
	instances := make([]Instance, len(u.Found))
	for n, i := range u.Found {
		instances[n] = i.Instance
	}
	u.Nodes = node.MatchNodes(NodeInstances(instances), o.Cluster, d.Nodes != nil && d.Nodes.MatchAddress)
	j, u.Notices = j.updated(d, u.Found, now)
	j.noteLoss(d, now)
	j.asNodes(d, u.Found, u.Nodes, now)
	u.Notices = append(u.Notices, j.noticed(d, u.Found, u.Nodes, now)...)
	j.confirm(o.Absent, now)
	j.forgotten(o.Cluster, now)
	j.inUse(o.Cluster, u.Nodes)
	j.declared(d, now)
	j.gated(d, g, now)
	j.exceeded(d, g, now)
	j.priced(u.Found, OffersByMarket(o.Offers), now)
	u.Journal = j
	return u
}

// updated brings the journal up to date with what was found: it moves open launches
// on, records new ids, notices reclaims and failed launches, and forgets what is
// over. The same finding changes nothing a second time. The strings say, for people,
// what was noticed.
func (j Journal) updated(d Declaration, found []OwnInstance, now time.Time) (Journal, []string) {
	j, open := j.of(d), j.Intents
	j.Cooldowns = slices.DeleteFunc(j.Cooldowns, func(c Cooldown) bool { return !now.Before(c.Until) })
	j.Past = slices.DeleteFunc(j.Past, func(p Past) bool { return now.Sub(p.GoneAt()) > pastFor })
	j = j.bindAccepted(d)
	j = j.counted(found)
	j = j.shown(found, now)
	var ended endings
	there := make(map[string]bool, len(found))
	for _, i := range found {
		there[i.ID] = true
	}
	j.Past = slices.DeleteFunc(j.Past, func(p Past) bool { return there[p.InstanceID] })
	recorded := make(map[string]Known, len(j.Known))
	for _, k := range j.Known {
		recorded[k.InstanceID] = k
		if there[k.InstanceID] {
			continue
		}
		j.gone(k, now)
		if !k.Ended {
			k.NoticedAt = now
			ended.add(k.InstanceID, k.Market, CausedByReclaim, goneUnasked)
		}
		if past := (Past{InstanceID: k.InstanceID, SeqTag: k.SeqTag, EndedAt: k.EndedAt, NoticedAt: k.NoticedAt, Node: k.Node}); !past.GoneAt().IsZero() {
			j.Past = append(j.Past, past)
		}
	}
	j.Known = make([]Known, len(found))
	for n, i := range found {
		was, before := recorded[i.ID]
		if !before {
			was = Known{InstanceID: i.ID, RecordedAt: now}
		}
		k := was
		if !i.Unlisted {
			k = was.listed(i, before, now, &ended).moving(i, now)
			j.met(i, was, before, k, open, now)
		}
		j.Known[n] = k
	}
	for _, e := range ended {
		if e.market.ChargeType == Spot || e.cause == CausedByLaunchFailed {
			j = j.cool(Cooldown{Market: e.market, Cause: e.cause, Detail: e.ids[len(e.ids)-1], Until: now.Add(time.Duration(d.Cooldown))})
		}
	}
	return j, ended.texts()
}

// bindAccepted drops configurations accepted at import once the declared
// configuration has changed since; j must be a clone.
func (j Journal) bindAccepted(d Declaration) Journal {
	if len(j.AcceptedConfigurations) == 0 {
		j.AcceptedConfigurations, j.AcceptedUnder = nil, ""
		return j
	}
	current := UnknownConfigurationTag(d.Configuration)
	if j.AcceptedUnder == "" {
		j.AcceptedUnder = current
	}
	if j.AcceptedUnder != current {
		j.AcceptedConfigurations, j.AcceptedUnder = nil, ""
	}
	return j
}

// counted raises the last sequence to the highest of open launches and of tags, since
// the journal may have been lost; j must be a clone.
func (j Journal) counted(found []OwnInstance) Journal {
	for _, intent := range j.Intents {
		j.LastSequence = max(j.LastSequence, intent.Request.Sequence)
	}
	for _, i := range found {
		j.LastSequence = max(j.LastSequence, i.SeqTag)
	}
	return j
}

// listed records the state in which an instance was listed, and notices where it ends
// unasked. Of an instance that was not recorded before, the end is no news.
func (k Known) listed(i OwnInstance, before bool, now time.Time, ended *endings) Known {
	k.Market, k.Seen, k.Tagged = i.Market(), true, k.Tagged || !i.Untagged
	if i.SeqTag > 0 {
		k.SeqTag = i.SeqTag
	}
	if k.Ended {
		return k
	}
	switch i.State {
	case StateLaunchFailed:
		k.Ended = true
		ended.add(i.ID, k.Market, CausedByLaunchFailed, "LAUNCH_FAILED: "+orUnknown(i.OperationError))
	case StateTerminating, StateShutdown:
		k.Ended = true
		if before {
			k.NoticedAt = now
			ended.add(i.ID, k.Market, CausedByReclaim, string(i.State)+": being reclaimed by the cloud, or ended by someone else")
		}
	}
	return k
}

// moving records since when an instance has been between two states. One that still
// runs endLag after its end was asked for does not end.
func (k Known) moving(i OwnInstance, now time.Time) Known {
	unended := k.Ended && i.State == StateRunning
	switch {
	case !unended && i.State != StateStarting && i.State != StateRebooting && (i.State != StatePending || !i.LaunchedAt.IsZero()):
		k.UnsettledSince = time.Time{}
	case k.UnsettledSince.IsZero():
		k.UnsettledSince = now
	case unended && now.Sub(k.UnsettledSince) > endLag:
		k.Ended, k.EndedAt, k.NoticedAt, k.UnsettledSince, k.EndReason = false, time.Time{}, time.Time{}, time.Time{}, ""
	}
	return k
}

// endings are the instances that ended unasked, grouped by market and by how they
// ended.
type endings []ending

type ending struct {
	market Market
	cause  CooldownCause
	what   string
	ids    []string
}

func (e *endings) add(id string, m Market, cause CooldownCause, what string) {
	for n := range *e {
		if same := &(*e)[n]; same.market == m && same.cause == cause && same.what == what {
			same.ids = append(same.ids, id)
			return
		}
	}
	*e = append(*e, ending{market: m, cause: cause, what: what, ids: []string{id}})
}

func (e endings) texts() []string {
	var list []string
	for _, end := range e {
		list = append(list, fmt.Sprintf("%s (%s) %s %s", wording.Some(end.ids), end.market, wording.Are(len(end.ids)), end.what))
	}
	return list
}

func orUnknown(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return "the cloud gave no reason"
	}
	return s
}
