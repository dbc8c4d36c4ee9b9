package launches

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Launches are the pending launches of a pool, and the source of later tokens.
type Launches struct {
	// Salt is random and part of each token, so that a new journal does not reuse the tokens
	// of a lost one. It is empty until a run writes the journal.
	Salt         string `json:"salt,omitempty"`
	LastSequence int64  `json:"last_sequence"`
	// LostAt is when the journal before this one was found missing; zero once everything that
	// was launched before is listed.
	LostAt  time.Time `json:"lost_at,omitzero"`
	Pending []Launch  `json:"intents,omitempty"` // oldest first
}

// Open records a launch before it is requested.
func (s Launches) Open(l Launch) Launches {
	s.Pending = append(slices.Clone(s.Pending), l)
	s.LastSequence = max(s.LastSequence, l.Request.Sequence)
	return s
}

// Retry records that a launch is requested again, since the outcome of the last call is
// unknown.
func (s Launches) Retry(sequence int64, now time.Time) Launches {
	s, _, _ = s.apply(sequence, askedAgain, func(l Launch) Launch { return l.withRetry(now) })
	return s
}

// Accept closes a launch that Tencent Cloud accepted, and returns it; ok is false if no such
// launch is pending. The call may have taken minutes, so at is the time of the response: the
// lag of listings begins then.
func (s Launches) Accept(sequence int64, ids []string, at time.Time) (_ Launches, e Effect, ok bool) {
	s, l, state := s.apply(sequence, idsCame, nil)
	if asked := l.requestedAt(); at.Before(asked) {
		at = asked
	}
	return s, Effect{l, ids, at}, state == Accepted
}

// Refuse records that a call for a launch was refused, and returns the launch and its new
// state. In [Refused], nothing was launched, and the launch is closed. In any other state it
// stays pending, since a call may have launched instances.
//
// A token that was used before proves that the journal is an old copy. It counts as lost from
// now on, so that later launches get tokens of a new salt.
func (s Launches) Refuse(sequence int64, e *spotpool.CloudError, now time.Time) (Launches, Launch, State) {
	l, _ := s.Find(sequence)
	s, l, state := s.apply(sequence, l.refusal(e, now), Launch.withoutLastCall)
	if state == Refused && e.UsedToken() {
		s.Salt, s.LostAt = "", now
	}
	return s, l, state
}

// Update updates the launches from the instances that were found, and returns those that took
// effect, which one instance proves. After TagLag the other instances are ignored: they
// failed, or were lost early.
func (s Launches) Update(poolUID string, found []spotpool.Instance, now time.Time) (Launches, []Effect) {
	s.LostAt = s.journalLostAt(poolUID, now)
	for _, i := range found { // the journal may have been lost
		s.LastSequence = max(s.LastSequence, i.SeqTag)
	}
	var effects []Effect
	for _, l := range s.Pending {
		s.LastSequence = max(s.LastSequence, l.Request.Sequence)
		ids, what := l.instances(found), allFound
		if len(ids) == 0 {
			continue
		}
		if len(ids) < l.Request.Count {
			s, _, _ = s.apply(l.Request.Sequence, someFound, func(l Launch) Launch { l.Seen = ids; return l })
			if what = lagIsOver; now.Sub(l.requestedAt()) <= spotpool.TagLag {
				continue
			}
		}
		s, _, _ = s.apply(l.Request.Sequence, what, nil)
		effects = append(effects, Effect{l, ids, now})
	}
	return s, effects
}

// apply applies an event to a launch, by the table of states, and returns the launch and its
// new state. note, which may be nil, records the event in a launch that stays pending. No
// other function closes a launch.
func (s Launches) apply(sequence int64, what event, note func(Launch) Launch) (Launches, Launch, State) {
	n := slices.IndexFunc(s.Pending, func(l Launch) bool { return l.Request.Sequence == sequence })
	if n < 0 {
		return s, Launch{}, ""
	}
	s.Pending = slices.Clone(s.Pending)
	l := s.Pending[n]
	state, moved := states[l.State()].becomes[what]
	switch {
	case !moved:
		return s, l, l.State()
	case !states[state].open:
		s.Pending = slices.Delete(s.Pending, n, n+1)
	case note != nil:
		l = note(l)
		s.Pending[n] = l
	}
	return s, l, state
}

// Find returns the pending launch with a sequence; false if there is none.
func (s Launches) Find(sequence int64) (Launch, bool) {
	n := slices.IndexFunc(s.Pending, func(l Launch) bool { return l.Request.Sequence == sequence })
	if n < 0 {
		return Launch{}, false
	}
	return s.Pending[n], true
}

// Missing returns how many instances of pending launches were not found yet.
func (s Launches) Missing() int {
	n := 0
	for _, l := range s.Pending {
		n += l.Missing()
	}
	return n
}

// Candidates returns the IDs of instances that may be of a pending launch.
func (s Launches) Candidates(instances []spotpool.Instance) map[string]bool {
	ids := map[string]bool{}
	for _, i := range instances {
		if slices.ContainsFunc(s.Pending, func(l Launch) bool { return l.matches(i) }) {
			ids[i.ID] = true
		}
	}
	return ids
}

// journalLostAt returns when the journal was found missing; zero once everything that was launched
// before is listed with its tags. A pool without a UID does not exist yet, and the journal of
// a new pool has a salt before the first decision.
func (s Launches) journalLostAt(poolUID string, now time.Time) time.Time {
	switch {
	case s.LostAt.IsZero() && s.Salt == "" && poolUID != "":
		return now
	case now.Sub(s.LostAt) > spotpool.TagLag:
		return time.Time{}
	}
	return s.LostAt
}

// LossReason says why nothing is launched after the loss of a journal, and until when; zero if
// none was lost recently.
func (s Launches) LossReason() reason.Reason {
	if s.LostAt.IsZero() {
		return reason.Reason{}
	}
	return reason.JournalLost(reason.Instant{Time: s.LostAt}, reason.Instant{Time: s.LostAt.Add(spotpool.TagLag)})
}
