package spotpool

import (
	"slices"
	"time"
)

// Intent is a launch written down before it is asked for. It is open until its
// outcome is definite, and then it is struck from the journal.
type Intent struct {
	Request   Request   `json:"request"`
	WrittenAt time.Time `json:"written_at"`
	// AskedAt is when it was last asked for, if more than once: what it launched
	// may be no older than that.
	AskedAt time.Time `json:"asked_at,omitzero"`
	// LostAt is when it was asked for before that, and no answer told the outcome.
	LostAt time.Time `json:"lost_at,omitzero"`
	// Seen lists the instances found with the launch's sequence so far. One is
	// proof that the launch took effect, also after it is gone again.
	Seen []string `json:"seen,omitempty"`
}

// missing is how many of the launch's instances were never seen.
func (i Intent) missing() int { return max(0, i.Request.Count-len(i.Seen)) }

// asked is when the launch took effect at the latest.
func (i Intent) asked() time.Time {
	if i.AskedAt.After(i.WrittenAt) {
		return i.AskedAt
	}
	return i.WrittenAt
}

// mayHaveMade reports whether an instance that carries the launch's tag can be of
// it: numbers of tags are used again, so it must not be older than the launch. The
// cloud keeps CreatedTime in whole seconds, and has more clocks than one.
func (i Intent) mayHaveMade(s sighting) bool {
	const skew = time.Minute
	return s.LaunchedAt.IsZero() || !s.LaunchedAt.Before(i.WrittenAt.Add(-skew))
}

// OpenCount is the number of instances that open intents asked for and that have
// not shown.
func (j Journal) OpenCount() int {
	n := 0
	for _, intent := range j.Intents {
		n += intent.missing()
	}
	return n
}

// Open writes down a launch before it is asked for.
func (j Journal) Open(r Request, now time.Time) Journal {
	j = j.Clone()
	j.Intents = append(j.Intents, Intent{Request: r, WrittenAt: now})
	j.LastSequence = max(j.LastSequence, r.Sequence)
	return j
}

// AskAgain notes that a launch is asked for once more, since the answer to
// the last call never told its outcome.
func (j Journal) AskAgain(sequence int64, now time.Time) Journal {
	return j.withIntent(sequence, func(i *Intent) { i.LostAt, i.AskedAt = i.asked(), now })
}

// NotClosed notes that the last call for a launch certainly had no effect, which
// says nothing of the calls before it.
func (j Journal) NotClosed(sequence int64) Journal {
	return j.withIntent(sequence, func(i *Intent) { i.AskedAt, i.LostAt = i.LostAt, time.Time{} })
}

func (j Journal) withIntent(sequence int64, change func(*Intent)) Journal {
	j = j.Clone()
	for n := range j.Intents {
		if j.Intents[n].Request.Sequence == sequence {
			change(&j.Intents[n])
		}
	}
	return j
}

// ClosedBy reports whether a refusal tells that a launch had no effect. A refusal
// speaks of its own call alone, and the cloud documents neither how long it
// remembers a ClientToken nor whether it looks at that before its stock and
// quotas. So where the answer to an earlier call was lost, a refusal closes the
// launch only once the instances of that call would have shown, which they
// have not.
func (j Journal) ClosedBy(sequence int64, refusal *CloudError, now time.Time) bool {
	if !refusal.NothingLaunched {
		return false
	}
	for _, i := range j.Intents {
		if i.Request.Sequence == sequence && !i.LostAt.IsZero() {
			return now.Sub(i.LostAt) > TagLag
		}
	}
	return true
}

// Accepted closes an intent whose launch the cloud accepted with these ids, and
// records them. The call may have taken minutes: at is the time of its answer, and
// listings are given their lag from then.
func (j Journal) Accepted(sequence int64, ids []string, at time.Time) Journal {
	j, intent := j.close(sequence)
	r := intent.Request
	if asked := intent.asked(); at.Before(asked) {
		at = asked
	}
	for _, id := range ids {
		j = j.know(Known{InstanceID: id, Market: marketOf(r.Offering, r.ChargeType), SeqTag: r.SeqTag, RecordedAt: at})
	}
	return j
}

// Refused closes an intent that certainly launched nothing, and remembers what
// the refusal rules out and for how long. A batch that found no stock halves
// the next one; a single instance that found none cools the offering down.
func (j Journal) Refused(sequence int64, refusal *CloudError, cooldown Duration, now time.Time) Journal {
	j, intent := j.close(sequence)
	if c, ok := refusalCooldown(intent.Request, refusal, now.Add(time.Duration(cooldown))); ok {
		return j.cool(c)
	}
	return j
}

func (j Journal) close(sequence int64) (Journal, Intent) {
	j = j.Clone()
	for i, intent := range j.Intents {
		if intent.Request.Sequence == sequence {
			j.Intents = slices.Delete(j.Intents, i, i+1)
			return j, intent
		}
	}
	return j, Intent{}
}
