package spotpool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// TagLag bounds how long the tags of a launch may stay incomplete. The cloud
	// attaches tags after it creates instances (Tencent CVM, RunInstances,
	// TagSpecification) and names no bound; this is far above what is seen.
	TagLag = 10 * time.Minute
	// listingLag bounds how long an instance may be missing from listings after
	// its launch was accepted: RunInstances answers with ids before the
	// instances are made, and names no bound. For so long a missing one is not
	// taken for reclaimed.
	listingLag = 2 * time.Minute
	// endLag bounds how long an instance may be seen running after its end was
	// asked for. After that, its end did not come about.
	endLag = 10 * time.Minute
)

// sighting is one of the pool's own instances and how it was found.
type sighting struct {
	Instance
	// untagged ones are recorded by id, and their tags have not arrived yet.
	untagged bool
	// unlisted ones were launched a moment ago, and no listing shows them yet.
	unlisted bool
}

// sight finds the pool's own instances: those that carry its tags, and those of
// its own launches whose tags, or which themselves, have not shown yet. An
// instance that carries another pool's uid is never among them.
func sight(d Declaration, j Journal, o Observation, now time.Time) []sighting {
	found := make([]sighting, 0, len(o.Instances))
	listed := make(map[string]bool, len(o.Instances))
	for _, i := range Own(d, o) {
		listed[i.ID] = true
		found = append(found, sighting{Instance: i})
	}
	for _, i := range o.Instances {
		if listed[i.ID] {
			continue
		}
		listed[i.ID] = true
		if i.PoolUID == "" && i.Region == d.Region && i.AccountID == d.AccountID && j.Expects(i.ID, now) {
			found = append(found, sighting{Instance: i, untagged: true})
		}
	}
	for _, k := range j.Known {
		if !listed[k.InstanceID] && !k.Seen && !k.Ended && now.Sub(k.RecordedAt) < listingLag {
			found = append(found, sighting{unlisted: true, Instance: Instance{
				ID: k.InstanceID, Region: d.Region, AccountID: d.AccountID, PoolUID: d.UID, PoolName: d.Name,
				AvailabilityZone: k.AvailabilityZone, InstanceType: k.InstanceType, ChargeType: k.ChargeType,
				SeqTag: k.SeqTag, State: StatePending, LaunchedAt: k.RecordedAt,
			}})
		}
	}
	slices.SortFunc(found, func(a, b sighting) int { return cmp.Compare(a.ID, b.ID) })
	return found
}

// Holdings lists the instances that are the pool's: those that carry its tags, and
// those of its own launches whose tags have not come yet.
func Holdings(d Declaration, j Journal, o Observation) []Instance {
	var list []Instance
	for _, s := range sight(d, j, o, o.At) {
		if !s.unlisted {
			list = append(list, s.Instance)
		}
	}
	return list
}

// absorb brings the journal up to date with what was seen: it closes intents
// whose instances are there, learns new ids, notices reclaims and failed
// launches, and drops what is over. Absorbing the same twice changes nothing.
// The strings say, for people, what was noticed.
func absorb(d Declaration, j Journal, found []sighting, now time.Time) (Journal, []string) {
	j = j.Clone()
	j.Cooldowns = slices.DeleteFunc(j.Cooldowns, func(c Cooldown) bool { return !now.Before(c.Until) })
	j.Past = slices.DeleteFunc(j.Past, func(p Past) bool { return now.Sub(p.at()) > pastFor })
	j = j.bindAccepted(d)
	j = j.counted(found)
	j = j.sighted(found, now)
	a := &absorber{declaration: d, now: now, found: make(map[string]bool, len(found))}
	for _, s := range found {
		a.found[s.ID] = true
	}
	recorded := make(map[string]Known, len(j.Known))
	for _, k := range j.Known {
		recorded[k.InstanceID] = k
		if !a.found[k.InstanceID] && !k.Ended {
			k.NoticedAt = now
		}
		if past := (Past{InstanceID: k.InstanceID, SeqTag: k.SeqTag, EndedAt: k.EndedAt, NoticedAt: k.NoticedAt}); !a.found[k.InstanceID] && !past.at().IsZero() {
			j.Past = append(j.Past, past)
		}
		if !a.found[k.InstanceID] && !k.Ended {
			a.notice(k.InstanceID, k.Market, CausedByReclaim, "gone: reclaimed by the cloud, or ended or untagged by someone else")
		}
	}
	known := make([]Known, len(found))
	for n, s := range found {
		k, before := recorded[s.ID]
		known[n] = a.judge(s, k, before)
	}
	j.Known = known
	for _, e := range a.endings {
		if e.market.ChargeType == Spot || e.cause == CausedByLaunchFailed {
			j = j.cool(Cooldown{Market: e.market, Cause: e.cause, Detail: e.ids[len(e.ids)-1], Until: now.Add(time.Duration(d.Cooldown))})
		}
	}
	if len(j.Known) == 0 {
		j.Known = nil
	}
	if len(j.Cooldowns) == 0 {
		j.Cooldowns = nil
	}
	if len(j.Past) == 0 {
		j.Past = nil
	}
	return j, a.notices()
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

// counted raises the last sequence to those of open launches and, where the journal
// was lost, to those of tags; j must be a clone.
func (j Journal) counted(found []sighting) Journal {
	for _, intent := range j.Intents {
		j.LastSequence = max(j.LastSequence, intent.Request.Sequence)
	}
	for _, s := range found {
		j.LastSequence = max(j.LastSequence, s.SeqTag)
	}
	return j
}

// absorber gathers what became of instances.
type absorber struct {
	declaration Declaration
	now         time.Time
	found       map[string]bool
	endings     []ended
}

// ended are instances of one market that ended alike.
type ended struct {
	market Market
	cause  CooldownCause
	what   string
	ids    []string
}

func (a *absorber) notice(id string, m Market, cause CooldownCause, what string) {
	for n := range a.endings {
		if e := &a.endings[n]; e.market == m && e.cause == cause && e.what == what {
			e.ids = append(e.ids, id)
			return
		}
	}
	a.endings = append(a.endings, ended{market: m, cause: cause, what: what, ids: []string{id}})
}

func (a *absorber) notices() []string {
	var list []string
	for _, e := range a.endings {
		list = append(list, fmt.Sprintf("%s (%s) %s %s", some(e.ids), e.market, isAre(len(e.ids)), e.what))
	}
	return list
}

// judge brings the record of one instance up to date. before says that it was
// recorded already: the end of an instance met for the first time is no news.
func (a *absorber) judge(s sighting, k Known, before bool) Known {
	if !before {
		k = Known{InstanceID: s.ID, RecordedAt: a.now}
	}
	if s.unlisted {
		return k
	}
	k.Market, k.Seen, k.Tagged = s.Market(), true, k.Tagged || !s.untagged
	if s.SeqTag > 0 {
		k.SeqTag = s.SeqTag
	}
	if !k.Ended {
		switch s.State {
		case StateLaunchFailed:
			k.Ended = true
			a.notice(s.ID, k.Market, CausedByLaunchFailed, "LAUNCH_FAILED: "+orUnknown(s.OperationError))
		case StateTerminating, StateShutdown:
			k.Ended = true
			if before {
				k.NoticedAt = a.now
				a.notice(s.ID, k.Market, CausedByReclaim, string(s.State)+": being reclaimed by the cloud, or ended by someone else")
			}
		}
	}
	unended := k.Ended && s.State == StateRunning
	switch {
	case !unended && s.State != StateStarting && s.State != StateRebooting && (s.State != StatePending || !s.LaunchedAt.IsZero()):
		k.UnsettledSince = time.Time{}
	case k.UnsettledSince.IsZero():
		k.UnsettledSince = a.now
	case unended && a.now.Sub(k.UnsettledSince) > endLag:
		k.Ended, k.EndedAt, k.NoticedAt, k.UnsettledSince = false, time.Time{}, time.Time{}, time.Time{}
	}
	return k
}

func orUnknown(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return "the cloud gave no reason"
	}
	return s
}
