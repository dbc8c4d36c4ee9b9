package launches

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

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

// BootstrapTokenID is the public part of the nth token that a launch may have, from 0 on:
// the next one is for where somebody else's has that id. The same pool, salt, sequence and
// n always give the same.
func BootstrapTokenID(uid, salt string, sequence int64, n int) string {
	text := fmt.Appendf(nil, "gpupool bootstrap token %s %s %d", uid, salt, sequence)
	if n > 0 {
		text = fmt.Appendf(text, " %d", n)
	}
	sum := sha256.Sum256(text)
	id, number := make([]byte, spotpool.TokenIDLength), binary.BigEndian.Uint64(sum[:])
	for at := range id {
		id[at] = spotpool.TokenCharacters[number%uint64(len(spotpool.TokenCharacters))]
		number /= uint64(len(spotpool.TokenCharacters))
	}
	return string(id)
}

// JoinToken is a bootstrap token whose Secret the cluster has, or may have. Its own secret
// is in the pending launch only.
type JoinToken struct {
	ID        string    `json:"id"`
	Sequence  int64     `json:"sequence"`
	ExpiresAt time.Time `json:"expires_at"` // by the cluster's clock
	// Instances are those that the launch made; none before that is known.
	Instances []string `json:"instances,omitempty"`
}

// LastsOn says whether a token is valid for so long still that a repeat of its launch
// leaves its Secret as it is: for more than half of the time that a new one would be.
func (t JoinToken) LastsOn(now time.Time, ttl spotpool.Duration) bool {
	return t.ExpiresAt.Sub(now) > time.Duration(ttl)/2
}

// Tokens are the join tokens of a pool.
type Tokens []JoinToken

// Of is the token with an id; false if there is none, and a Secret of that id is
// somebody else's.
func (list Tokens) Of(id string) (JoinToken, bool) {
	n := slices.IndexFunc(list, func(t JoinToken) bool { return t.ID == id })
	if n < 0 {
		return JoinToken{}, false
	}
	return list[n], true
}

// With has a token whose Secret is about to be made, or to be made again.
func (list Tokens) With(t JoinToken) Tokens { return append(list.Without(t.ID), t) }

// Without lacks a token whose Secret is gone.
func (list Tokens) Without(id string) Tokens {
	return list.drop(func(t JoinToken) bool { return t.ID == id })
}

// Unexpired are those by which instances can still join.
func (list Tokens) Unexpired(now time.Time) Tokens {
	return list.drop(func(t JoinToken) bool { return !now.Before(t.ExpiresAt) })
}

func (list Tokens) drop(which func(JoinToken) bool) Tokens {
	if list = slices.DeleteFunc(slices.Clone(list), which); len(list) == 0 {
		return nil
	}
	return list
}

// For records which instances the token of a launch is for.
func (list Tokens) For(sequence int64, ids []string) Tokens {
	list = slices.Clone(list)
	for n, t := range list {
		if t.Sequence == sequence {
			list[n].Instances = slices.Clone(ids)
		}
	}
	return list
}
