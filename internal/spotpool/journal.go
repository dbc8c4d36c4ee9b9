package spotpool

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
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
	// BootstrapToken is what is filled into the user data; empty where it has no place for
	// one, or is not filled in yet.
	BootstrapToken string `json:"bootstrap_token,omitempty"`
	Configuration
}

// Journal is what a pool remembers from run to run.
type Journal struct {
	// Salt is random, made with the journal, and part of each token: a journal that
	// is made anew after a loss can't repeat the tokens of the lost one. It is empty
	// until a run has written the journal.
	Salt         string `json:"salt,omitempty"`
	LastSequence int64  `json:"last_sequence"`
	// LostAt is when the pool was first seen without a journal, in whose place this one is;
	// zero once all that was launched before is listed.
	LostAt    time.Time  `json:"lost_at,omitzero"`
	Intents   []Intent   `json:"intents,omitempty"` // open ones, oldest first
	Known     []Known    `json:"known,omitempty"`   // by id
	Past      []Past     `json:"past,omitempty"`
	Cooldowns []Cooldown `json:"cooldowns,omitempty"`
	// ShortSince is since when the pool has been below its minimum.
	ShortSince time.Time `json:"short_since,omitzero"`
	// AcceptedConfigurations are configuration tags that count as current though
	// their hash differs: those that instances had when the pool was imported. They
	// count until the declared configuration changes from AcceptedUnder.
	AcceptedConfigurations []string `json:"accepted_configurations,omitempty"`
	// AcceptedUnder is the UnknownConfigurationTag of that configuration; empty
	// until the first decision after the import.
	AcceptedUnder string `json:"accepted_under,omitempty"`
	// Object and UID are the pool's, which events name, and Generation that of the
	// declaration that was last decided by.
	Object     string `json:"object,omitempty"`
	UID        string `json:"uid,omitempty"`
	Generation int64  `json:"generation,omitempty"`
	// GateClosedSince is since when the pool's budget holds its launches back.
	GateClosedSince time.Time `json:"gate_closed_since,omitzero"`
	// Exceeded is since when the budget is seen exceeded for certain, where that drains
	// the pool.
	Exceeded Exceeded `json:"exceeded,omitzero"`
	// Prices are those of the markets in use.
	Prices []NotedPrice `json:"prices,omitempty"`
	// NeverJoined are the instances of one configuration that were replaced since they
	// never joined the cluster.
	NeverJoined node.Streak `json:"never_joined,omitzero"`
	// Minted are the bootstrap tokens whose Secrets are, or may be, in the cluster.
	Minted []Minted `json:"bootstrap_tokens,omitempty"`
	// Untold are events that the history may lack: what changes the journal adds them
	// in the same write, and who has told them leaves them out of its next one. LeftOut
	// is how many older ones there was no room for.
	Untold  []history.Event `json:"untold,omitempty"`
	LeftOut int             `json:"untold_left_out,omitempty"`
}

// Token is the ClientToken of one launch of a pool: the same pool, salt and sequence
// always give the same token, and no others do. It has 32 ASCII characters
// (RunInstances allows 64). Without a salt there is no token, and nothing can be
// launched.
func Token(uid, salt string, sequence int64) string {
	if salt == "" {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "gpupool launch %s %s %d", uid, salt, sequence))
	return hex.EncodeToString(sum[:16])
}

// Salted is the journal with this salt, unless it has one.
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
	j.Prices = slices.Clone(j.Prices)
	j.Minted = slices.Clone(j.Minted)
	j.Untold = slices.Clone(j.Untold)
	return j
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
