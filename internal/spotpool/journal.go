package spotpool

import (
	"cmp"
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
	SeqTag           int64      `json:"seq"` // its instances' tag gpupool/seq
	Token            string     `json:"token"`
	Offering         Offering   `json:"offering"`
	ChargeType       ChargeType `json:"charge_type"`
	Count            int        `json:"count"`
	ConfigurationTag string     `json:"config"`
	Configuration
}

// Known is an instance whose id was recorded. Tags arrive late and listings
// page without a snapshot, so recorded ids are looked up by themselves.
type Known struct {
	InstanceID string `json:"instance_id"`
	Market
	SeqTag int64 `json:"seq,omitempty"` // its tag gpupool/seq, once launched or seen with it
	// RecordedAt is when its launch was accepted, by the cloud's answer, or else
	// when it was first seen or adopted.
	RecordedAt time.Time `json:"recorded_at,omitzero"`
	Seen       bool      `json:"seen,omitempty"`   // was listed since
	Tagged     bool      `json:"tagged,omitempty"` // was listed with the pool's tags
	// UnsettledSince is when the instance was first seen starting or rebooting,
	// or still running after its end was asked for.
	UnsettledSince time.Time `json:"unsettled_since,omitzero"`
	// Ended says that its end was asked for, or noticed and accounted for.
	Ended bool `json:"ended,omitempty"`
	// EndedAt is when its end was asked for, where the pool did.
	EndedAt time.Time `json:"ended_at,omitzero"`
	// NoticedAt is when its end was first noticed, where the pool did not ask for it.
	NoticedAt time.Time `json:"noticed_at,omitzero"`
}

// Past is an instance that is gone.
type Past struct {
	InstanceID string    `json:"instance_id"`
	SeqTag     int64     `json:"seq,omitempty"`
	EndedAt    time.Time `json:"ended_at,omitzero"`   // when the pool asked for its end
	NoticedAt  time.Time `json:"noticed_at,omitzero"` // when its end was noticed, where the pool did not ask
}

// at is when its end was asked for, or else noticed.
func (p Past) at() time.Time {
	if p.EndedAt.IsZero() {
		return p.NoticedAt
	}
	return p.EndedAt
}

// pastFor is how long instances that are gone are remembered: what ran on them
// may be asked after by the next runs.
const pastFor = 48 * time.Hour

// Journal is what a pool remembers from run to run.
type Journal struct {
	// Salt is random, made with the journal, and part of each token: one that is
	// made anew after a loss can't repeat the tokens of the lost one. Empty only in
	// a journal that no run has held yet.
	Salt         string     `json:"salt,omitempty"`
	LastSequence int64      `json:"last_sequence"`
	Intents      []Intent   `json:"intents,omitempty"` // open ones, oldest first
	Known        []Known    `json:"known,omitempty"`   // by id
	Past         []Past     `json:"past,omitempty"`
	Cooldowns    []Cooldown `json:"cooldowns,omitempty"`
	// ShortSince is since when the pool has been below its minimum.
	ShortSince time.Time `json:"short_since,omitzero"`
	// AcceptedConfigurations are configuration tags that count as current
	// though their hash differs: those found when the pool was imported. They
	// are accepted until the declared configuration changes from AcceptedUnder.
	AcceptedConfigurations []string `json:"accepted_configurations,omitempty"`
	// AcceptedUnder is the UnknownConfigurationTag of that configuration; empty
	// until the first decision after the import.
	AcceptedUnder string `json:"accepted_under,omitempty"`
}

// Token is the ClientToken of one launch of a pool: the same pool, salt and
// sequence always give the same token, and no others do. It is 32 ASCII characters
// (RunInstances allows 64). Without a salt there is none, and nothing can be
// launched.
func Token(uid, salt string, sequence int64) string {
	if salt == "" {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "gpupool launch %s %s %d", uid, salt, sequence))
	return hex.EncodeToString(sum[:16])
}

// Salted gives a journal that has no salt this one.
func (j Journal) Salted(salt string) Journal {
	if j.Salt == "" {
		j.Salt = salt
	}
	return j
}

// Clone copies the journal, so that the copy can be changed.
func (j Journal) Clone() Journal {
	j.Intents = slices.Clone(j.Intents)
	j.Known = slices.Clone(j.Known)
	j.Past = slices.Clone(j.Past)
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

// Accepting lets these configuration tags count as current until the declared
// configuration changes.
func (j Journal) Accepting(tags []string) Journal {
	j = j.Clone()
	j.AcceptedConfigurations, j.AcceptedUnder = slices.Clone(tags), ""
	slices.Sort(j.AcceptedConfigurations)
	j.AcceptedConfigurations = slices.Compact(j.AcceptedConfigurations)
	return j
}

// Listed notes that these instances have shown, so that one that is missing from
// now on is taken for reclaimed.
func (j Journal) Listed(ids []string) Journal {
	j = j.Clone()
	for _, id := range ids {
		if i, found := j.find(id); found {
			j.Known[i].Seen = true
		}
	}
	return j
}

// Adopted records instances that were taken into the pool.
func (j Journal) Adopted(instances []Instance, now time.Time) Journal {
	j = j.Clone()
	for _, i := range instances {
		j = j.know(Known{InstanceID: i.ID, Market: i.Market(), SeqTag: i.SeqTag, RecordedAt: now, Seen: true})
	}
	return j
}

// Expects reports whether an instance without tags is the pool's: its id was
// recorded, and its tags were never seen, or may not have come yet. One that
// lost its tags later was let go by someone.
func (j Journal) Expects(id string, now time.Time) bool {
	i, found := j.find(id)
	return found && (!j.Known[i].Tagged || now.Sub(j.Known[i].RecordedAt) <= TagLag)
}

// Ending notes that the end of these instances is asked for, so that their
// disappearance is not taken for a reclaim.
func (j Journal) Ending(ids []string, now time.Time) Journal {
	j = j.Clone()
	ending := make(map[string]bool, len(ids))
	for _, id := range ids {
		ending[id] = true
	}
	for i := range j.Known {
		if ending[j.Known[i].InstanceID] {
			j.Known[i].Ended, j.Known[i].EndedAt = true, now
		}
	}
	return j
}

// NotEnding takes back that the end of instances was asked for: it was refused.
func (j Journal) NotEnding(ids []string) Journal {
	j = j.Clone()
	for i := range j.Known {
		if slices.Contains(ids, j.Known[i].InstanceID) {
			j.Known[i].Ended, j.Known[i].EndedAt, j.Known[i].UnsettledSince = false, time.Time{}, time.Time{}
		}
	}
	return j
}

// find returns where an id is recorded, or would be: they are in order.
func (j Journal) find(id string) (int, bool) {
	return slices.BinarySearchFunc(j.Known, id, func(k Known, id string) int { return cmp.Compare(k.InstanceID, id) })
}

// know records an instance once; j must be a clone.
func (j Journal) know(k Known) Journal {
	if i, found := j.find(k.InstanceID); !found {
		j.Known = slices.Insert(j.Known, i, k)
	}
	return j
}

// Released forgets instances that were let go.
func (j Journal) Released(ids []string) Journal {
	j = j.Clone()
	j.Known = slices.DeleteFunc(j.Known, func(k Known) bool { return slices.Contains(ids, k.InstanceID) })
	return j
}
