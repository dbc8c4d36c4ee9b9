package spotpool

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// Request is the whole of one launch. The cloud's call is built from it and
// from nothing else, so that repeating it sends the identical body.
type Request struct {
	Region           string     `json:"region"`
	Pool             string     `json:"pool"`
	UID              string     `json:"uid"`
	Sequence         int64      `json:"sequence"`
	Token            string     `json:"token"`
	Offering         Offering   `json:"offering"`
	ChargeType       ChargeType `json:"charge_type"`
	Count            int        `json:"count"`
	ConfigurationTag string     `json:"config"`
	Configuration
}

// Intent is a launch written down before it is asked for. It is open until its
// outcome is definite, and then it is struck from the journal.
type Intent struct {
	Request   Request   `json:"request"`
	WrittenAt time.Time `json:"written_at"`
}

// CooldownCause says why an offering is cooling down.
type CooldownCause string

// The causes of a cool-down. An offering whose instance was just reclaimed, or
// failed to launch, is avoided where another one can launch; the others are out
// until the cool-down is over.
const (
	CausedBySoldOut      CooldownCause = "sold out"
	CausedByPrice        CooldownCause = "market price above the cap"
	CausedByQuota        CooldownCause = "quota used up"
	CausedByNotSold      CooldownCause = "not sold here"
	CausedByReclaim      CooldownCause = "just reclaimed"
	CausedByLaunchFailed CooldownCause = "launch failed"
	// CausedByBatch does not rule an offering out: it bounds the batch.
	CausedByBatch CooldownCause = "no stock for a larger batch"
)

func (c CooldownCause) soft() bool { return c == CausedByReclaim || c == CausedByLaunchFailed }

// Cooldown keeps launches out of a market for a while. An empty instance type
// stands for all of the zone.
type Cooldown struct {
	Market
	Cause  CooldownCause `json:"cause"`
	Until  time.Time     `json:"until"`
	Detail string        `json:"detail,omitempty"`
	// Batch is the largest count to ask for; only with CausedByBatch.
	Batch int `json:"batch,omitempty"`
}

func (c Cooldown) covers(m Market) bool {
	return c.AvailabilityZone == m.AvailabilityZone && c.ChargeType == m.ChargeType &&
		(c.InstanceType == "" || c.InstanceType == m.InstanceType)
}

// Known is an instance whose id was recorded. Tags arrive late and listings
// page without a snapshot, so recorded ids are looked up by themselves.
type Known struct {
	InstanceID string `json:"instance_id"`
	Market
	// RecordedAt is when the id was recorded. For a while after it the
	// instance's tags may be missing.
	RecordedAt time.Time `json:"recorded_at,omitzero"`
	// UnsettledSince is when the instance was first seen starting or rebooting.
	UnsettledSince time.Time `json:"unsettled_since,omitzero"`
	// Ended says that its end was asked for, or noticed and accounted for.
	Ended bool `json:"ended,omitempty"`
}

// Journal is what a pool remembers from run to run.
type Journal struct {
	LastSequence int64      `json:"last_sequence"`
	Intents      []Intent   `json:"intents,omitempty"` // open ones, oldest first
	Known        []Known    `json:"known,omitempty"`   // by id
	Cooldowns    []Cooldown `json:"cooldowns,omitempty"`
	// ShortSince is since when the pool has been below its minimum.
	ShortSince time.Time `json:"short_since,omitzero"`
	// AcceptedConfigurations are configuration tags that count as current
	// though their hash differs: those found when the pool was imported.
	AcceptedConfigurations []string `json:"accepted_configurations,omitempty"`
}

// Token is the ClientToken of one launch of a pool: the same pool and sequence
// always give the same token, and no other does. It is 32 ASCII characters
// (RunInstances allows 64).
func Token(uid string, sequence int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "gpupool launch %s %d", uid, sequence))
	return hex.EncodeToString(sum[:16])
}

// Clone copies the journal, so that the copy can be changed.
func (j Journal) Clone() Journal {
	j.Intents = slices.Clone(j.Intents)
	j.Known = slices.Clone(j.Known)
	j.Cooldowns = slices.Clone(j.Cooldowns)
	j.AcceptedConfigurations = slices.Clone(j.AcceptedConfigurations)
	return j
}

// KnownIDs lists the recorded instances.
func (j Journal) KnownIDs() []string {
	ids := make([]string, len(j.Known))
	for i, k := range j.Known {
		ids[i] = k.InstanceID
	}
	return ids
}

// OpenCount is the number of instances that open intents asked for.
func (j Journal) OpenCount() int {
	n := 0
	for _, intent := range j.Intents {
		n += intent.Request.Count
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

// Accepted closes an intent whose launch the cloud accepted with these ids.
func (j Journal) Accepted(sequence int64, ids []string) Journal {
	j, intent := j.close(sequence)
	r := intent.Request
	for _, id := range ids {
		j = j.know(Known{InstanceID: id, Market: marketOf(r.Offering, r.ChargeType), RecordedAt: intent.WrittenAt})
	}
	return j
}

// Adopted records instances that were taken into the pool.
func (j Journal) Adopted(instances []Instance, now time.Time) Journal {
	j = j.Clone()
	for _, i := range instances {
		j = j.know(Known{InstanceID: i.ID, Market: i.market(), RecordedAt: now})
	}
	return j
}

// Expects reports whether an instance without tags is the pool's: its id was
// recorded, and not so long ago that its tags must have come. One that lost its
// tags later was let go by someone.
func (j Journal) Expects(id string, now time.Time) bool {
	for _, k := range j.Known {
		if k.InstanceID == id {
			return now.Sub(k.RecordedAt) <= tagLag
		}
	}
	return false
}

// Refused closes an intent that certainly launched nothing, and remembers what
// the refusal rules out and for how long. A batch that found no stock halves
// the next one; a single instance that found none cools the offering down.
func (j Journal) Refused(sequence int64, refusal *CloudError, cooldown Duration, now time.Time) Journal {
	j, intent := j.close(sequence)
	r := intent.Request
	c := Cooldown{
		Market: marketOf(r.Offering, r.ChargeType),
		Until:  now.Add(time.Duration(cooldown)),
		Detail: refusal.Code,
	}
	switch {
	case refusal.Scope == ScopePool || refusal.Class == ClassTransient:
		return j
	case refusal.Class == ClassCapacity && refusal.Scope == ScopeOffering && r.Count > 1:
		c.Cause, c.Batch = CausedByBatch, r.Count/2
	case refusal.Class == ClassCapacity:
		c.Cause = CausedBySoldOut
	case refusal.Class == ClassPrice:
		c.Cause = CausedByPrice
	case refusal.Class == ClassQuota:
		c.Cause = CausedByQuota
	default:
		c.Cause = CausedByNotSold
	}
	if refusal.Scope == ScopeZone {
		c.InstanceType = ""
	}
	return j.cool(c)
}

// Ending notes that the end of these instances was asked for, so that their
// disappearance is not taken for a reclaim.
func (j Journal) Ending(ids []string) Journal {
	j = j.Clone()
	for i := range j.Known {
		if slices.Contains(ids, j.Known[i].InstanceID) {
			j.Known[i].Ended = true
		}
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

// know records an instance once, in the order of ids; j must be a clone.
func (j Journal) know(k Known) Journal {
	i, found := slices.BinarySearchFunc(j.Known, k.InstanceID, func(a Known, id string) int {
		switch {
		case a.InstanceID < id:
			return -1
		case a.InstanceID > id:
			return 1
		}
		return 0
	})
	if !found {
		j.Known = slices.Insert(j.Known, i, k)
	}
	return j
}

// cool replaces the cool-down of the same market and kind; j must be a clone.
func (j Journal) cool(c Cooldown) Journal {
	j.Cooldowns = slices.DeleteFunc(j.Cooldowns, func(old Cooldown) bool {
		return old.Market == c.Market && (old.Batch > 0) == (c.Batch > 0) && old.Cause.soft() == c.Cause.soft()
	})
	j.Cooldowns = append(j.Cooldowns, c)
	return j
}

func marketOf(o Offering, charge ChargeType) Market {
	return Market{AvailabilityZone: o.AvailabilityZone, InstanceType: o.InstanceType, ChargeType: charge}
}
