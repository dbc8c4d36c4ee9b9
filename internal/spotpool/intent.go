package spotpool

import (
	"slices"
	"time"
)

// Intent is a launch that is written down before it is asked for. It is in the
// journal while its outcome is open. How far the launch has come follows from what is
// stored, see [Intent.State]; nothing outside this file takes an intent out of a
// journal.
type Intent struct {
	Request   Request   `json:"request"`
	WrittenAt time.Time `json:"written_at"`
	// AskedAt and LostAt tell three states apart. Both are set in asked, AskedAt alone
	// is set in unknown, and neither in written.
	//
	// AskedAt is when the latest call was made that may have launched something, if
	// that is not known to be the first one.
	AskedAt time.Time `json:"asked_at,omitzero"`
	// LostAt is when the call before that was made, whose answer was lost.
	LostAt time.Time `json:"lost_at,omitzero"`
	// Seen lists the instances found so far that carry the launch's sequence. One of
	// them proves that the launch took effect, even after that instance is gone.
	Seen []string `json:"seen,omitempty"`
	// Reasons are those of the decision, and Price what one instance was known to cost.
	Reasons []string `json:"reasons,omitempty"`
	Price   Price    `json:"hourly_price,omitempty"`
}

// LaunchState is how far a launch has come, as far as its journal can tell.
type LaunchState string

// The states of a launch. The last three are never stored: they close the intent.
const (
	// LaunchWritten: the first call is about to be made, or under way. A run that
	// finds such an intent takes it that the call was made and its answer lost.
	LaunchWritten LaunchState = "written"
	// LaunchAsked: the launch is asked for again, since an earlier answer was lost.
	LaunchAsked LaunchState = "asked"
	// LaunchUnknown: the last call certainly launched nothing, and what an earlier
	// one did is unknown.
	LaunchUnknown LaunchState = "unknown"
	// LaunchSeen: some of its instances were found, so that it took effect.
	LaunchSeen LaunchState = "seen"
	// LaunchRefused: it launched nothing.
	LaunchRefused LaunchState = "refused"
	// LaunchAccepted: the cloud named its instances.
	LaunchAccepted LaunchState = "accepted"
	// LaunchClosed: some of its instances were found, and the others are not waited
	// for any more.
	LaunchClosed LaunchState = "closed"
)

// launchEvent is something that happens to a launch.
type launchEvent string

const (
	// The launch is asked for once more, since the answer to the last call was lost.
	askedAgain launchEvent = "asked again"
	// The cloud answered with the ids of the launch's instances.
	idsCame launchEvent = "ids"
	// The last call launched nothing, and no earlier one did.
	refused launchEvent = "refused"
	// The last call launched nothing. An earlier one, whose answer was lost, may have
	// launched instances that are not listed yet.
	lastCallRefused launchEvent = "refused, though an earlier call may have launched"
	// A look found some of the launch's instances, but not all.
	someFound launchEvent = "some found"
	// A look found all of the launch's instances.
	allFound launchEvent = "all found"
	// TagLag is over since the last call: all that it launched has its tags by now.
	lagIsOver launchEvent = "ten minutes after the last call"
)

// launchStates is what the states of a launch are, and what moves it from one to the
// next. An event that a state does not list changes nothing, such as a refusal that
// may speak of only one call of several. A lost answer is no event.
var launchStates = map[LaunchState]struct {
	// open launches are in the journal. The instances that they asked for and that
	// were not found yet count as held.
	open bool
	// repeatable ones are asked for again by the next run, with the same token.
	repeatable bool
	becomes    map[launchEvent]LaunchState
}{
	LaunchWritten: {open: true, repeatable: true, becomes: map[launchEvent]LaunchState{
		askedAgain: LaunchAsked, idsCame: LaunchAccepted, refused: LaunchRefused, someFound: LaunchSeen, allFound: LaunchClosed,
	}},
	LaunchAsked: {open: true, repeatable: true, becomes: map[launchEvent]LaunchState{
		askedAgain: LaunchAsked, idsCame: LaunchAccepted, refused: LaunchRefused, lastCallRefused: LaunchUnknown, someFound: LaunchSeen, allFound: LaunchClosed,
	}},
	LaunchUnknown: {open: true, repeatable: true, becomes: map[launchEvent]LaunchState{
		askedAgain: LaunchAsked, idsCame: LaunchAccepted, someFound: LaunchSeen, allFound: LaunchClosed,
	}},
	LaunchSeen: {open: true, becomes: map[launchEvent]LaunchState{
		idsCame: LaunchAccepted, someFound: LaunchSeen, allFound: LaunchClosed, lagIsOver: LaunchClosed,
	}},
	LaunchRefused:  {},
	LaunchAccepted: {},
	LaunchClosed:   {},
}

// State is how far the launch of an intent in a journal has come.
func (i Intent) State() LaunchState {
	switch {
	case len(i.Seen) > 0:
		return LaunchSeen
	case !i.LostAt.IsZero():
		return LaunchAsked
	case !i.AskedAt.IsZero():
		return LaunchUnknown
	}
	return LaunchWritten
}

// Open writes a launch down before it is asked for.
func (j Journal) Open(r Request, now time.Time) Journal {
	j = j.Clone()
	j.Intents = append(j.Intents, Intent{Request: r, WrittenAt: now})
	j.LastSequence = max(j.LastSequence, r.Sequence)
	return j
}

// Decided keeps of an open launch why it was decided, until it is told.
func (j Journal) Decided(d Decision) Journal {
	if n := slices.IndexFunc(j.Intents, func(i Intent) bool { return i.Request.Sequence == d.Sequence }); n >= 0 {
		j = j.Clone()
		j.Intents[n].Reasons, j.Intents[n].Price = slices.Clone(d.Reasons), d.Price
	}
	return j
}

// AskAgain notes that a launch is asked for once more, since the answer to
// the last call never told its outcome.
func (j Journal) AskAgain(sequence int64, now time.Time) Journal {
	j, _, _ = j.happened(sequence, askedAgain, func(i *Intent) { i.noteCall(now) })
	return j
}

// Accepted closes the intent of a launch that the cloud accepted, and records the
// ids. The call may have taken minutes, so at is the time of the answer: listings are
// given their lag from then.
func (j Journal) Accepted(sequence int64, ids []string, at time.Time) Journal {
	if len(ids) == 0 {
		return j
	}
	j, intent, state := j.happened(sequence, idsCame, nil)
	r := intent.Request
	if asked := intent.asked(); at.Before(asked) {
		at = asked
	}
	if state == LaunchAccepted {
		j.launched(intent, ids, at)
	}
	for _, id := range ids {
		k := Known{InstanceID: id, Market: r.Offering.Market(r.ChargeType), SubnetID: r.Offering.SubnetID, SeqTag: r.SeqTag, RecordedAt: at}
		if _, known := j.find(id); !known {
			j = j.know(k)
			j.begun(k, intent.Price)
		}
	}
	return j
}

// Refused notes that a call for a launch was refused, and returns the state that the
// launch is in then. In [LaunchRefused], nothing was launched: the intent is closed, and
// the cool-down that the refusal calls for has begun. In any other state the launch
// stays open, since an earlier call, or this one, may have launched something.
func (j Journal) Refused(sequence int64, refusal *CloudError, cooldown Duration, now time.Time) (Journal, LaunchState) {
	open, _ := j.Intent(sequence)
	j, intent, state := j.happened(sequence, open.refusedBy(refusal, now), (*Intent).forgetLastCall)
	if state != LaunchRefused {
		return j, state
	}
	if c, ok := refusalCooldown(intent.Request, refusal, now.Add(time.Duration(cooldown))); ok {
		return j.cool(c), state
	}
	return j, state
}

// noteCall notes a call that is made since the answer to the one before was lost.
func (i *Intent) noteCall(now time.Time) { i.LostAt, i.AskedAt = i.asked(), now }

// forgetLastCall notes that the last call launched nothing: what may have launched is
// the call before it.
func (i *Intent) forgetLastCall() { i.AskedAt, i.LostAt = i.LostAt, time.Time{} }

// refusedBy is what a refusal means for a launch; empty where it means nothing. A
// refusal speaks of its own call alone: the cloud documents neither how long it
// remembers a ClientToken nor whether it looks at the token before its stock and
// quotas. So where the answer to an earlier call was lost, the launch counts as
// refused only once instances of that call would have been listed and were not.
func (i Intent) refusedBy(refusal *CloudError, now time.Time) launchEvent {
	switch {
	case !refusal.NothingLaunched:
		return ""
	case !i.LostAt.IsZero() && now.Sub(i.LostAt) <= TagLag:
		return lastCallRefused
	}
	return refused
}

// shown moves open launches on by the instances that were found. One that is found
// proves that its launch took effect. After TagLag the others are not waited for:
// they failed, or were reclaimed early.
func (j Journal) shown(found []OwnInstance, now time.Time) Journal {
	byTag := map[int64][]OwnInstance{}
	for _, s := range found {
		if s.SeqTag > 0 {
			byTag[s.SeqTag] = append(byTag[s.SeqTag], s)
		}
	}
	for _, i := range slices.Clone(j.Intents) {
		seen := slices.Clone(i.Seen)
		for _, s := range byTag[i.Request.SeqTag] {
			if i.mayHaveMade(s) {
				seen = append(seen, s.ID)
			}
		}
		slices.Sort(seen)
		seen = slices.Compact(seen)
		switch {
		case len(seen) == 0:
			continue
		case len(seen) >= i.Request.Count:
			j, _, _ = j.happened(i.Request.Sequence, allFound, nil)
			j.launched(i, seen, now)
			continue
		}
		j, _, _ = j.happened(i.Request.Sequence, someFound, func(i *Intent) { i.Seen = seen })
		if now.Sub(i.asked()) > TagLag {
			j, _, _ = j.happened(i.Request.Sequence, lagIsOver, nil)
			j.launched(i, seen, now)
		}
	}
	return j
}

// happened moves a launch on by an event, as launchStates says, and returns its
// intent and its new state. note, which may be nil, stores the event in the intent of a
// launch that stays open. No other function closes an intent.
func (j Journal) happened(sequence int64, what launchEvent, note func(*Intent)) (Journal, Intent, LaunchState) {
	n := slices.IndexFunc(j.Intents, func(i Intent) bool { return i.Request.Sequence == sequence })
	if n < 0 {
		return j, Intent{}, ""
	}
	j = j.Clone()
	state, moved := launchStates[j.Intents[n].State()].becomes[what]
	switch {
	case !moved:
		state = j.Intents[n].State()
	case launchStates[state].open:
		if note != nil {
			note(&j.Intents[n])
		}
	default:
		intent := j.Intents[n]
		j.Intents = slices.Delete(j.Intents, n, n+1)
		return j, intent, state
	}
	return j, j.Intents[n], state
}

// Intent finds an open intent.
func (j Journal) Intent(sequence int64) (Intent, bool) {
	for _, i := range j.Intents {
		if i.Request.Sequence == sequence {
			return i, true
		}
	}
	return Intent{}, false
}

// OpenCount is the number of instances that open intents asked for and that were not
// found yet.
func (j Journal) OpenCount() int {
	n := 0
	for _, intent := range j.Intents {
		n += intent.Missing()
	}
	return n
}

// Repeatable reports whether the next run asks for the launch again.
func (i Intent) Repeatable() bool { return launchStates[i.State()].repeatable }

// Missing is how many of the launch's instances were never found.
func (i Intent) Missing() int { return max(0, i.Request.Count-len(i.Seen)) }

// asked is the latest time at which the launch can have taken effect.
func (i Intent) asked() time.Time {
	if i.AskedAt.After(i.WrittenAt) {
		return i.AskedAt
	}
	return i.WrittenAt
}

// mayHaveMade reports whether an instance that carries the launch's tag can be of
// this launch. Tag numbers are used again, so the instance must not be older than the
// launch. The cloud gives CreatedTime in whole seconds, and its clocks differ.
func (i Intent) mayHaveMade(s OwnInstance) bool {
	const skew = time.Minute
	return s.LaunchedAt.IsZero() || !s.LaunchedAt.Before(i.WrittenAt.Add(-skew))
}
