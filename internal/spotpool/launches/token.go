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

// Token returns the ClientToken of a launch: only the same pool, salt and sequence give the
// same token. It has 32 ASCII characters (RunInstances allows 64). Without a salt there is no
// token, and no launch.
func Token(uid, salt string, sequence int64) string {
	if salt == "" {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "gpupool launch %s %s %d", uid, salt, sequence))
	return hex.EncodeToString(sum[:16])
}

// BootstrapTokenID returns the public part of the nth token of a launch, from 0 on. The next
// one is used if a foreign Secret has that ID. The same pool, salt, sequence and n always give
// the same ID.
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

// JoinToken is a bootstrap token whose Secret exists, or may exist. Its secret part is only in
// the pending launch.
type JoinToken struct {
	ID        string    `json:"id"`
	Sequence  int64     `json:"sequence"`
	ExpiresAt time.Time `json:"expires_at"` // by the cluster's clock
	// Instances are those of the launch, once they are known.
	Instances []string `json:"instances,omitempty"`
}

// Fresh reports whether a retry of its launch keeps the token's Secret, since it is valid for
// more than half of its time to live.
func (t JoinToken) Fresh(now time.Time, ttl spotpool.Duration) bool {
	return t.ExpiresAt.Sub(now) > time.Duration(ttl)/2
}

// Tokens are the join tokens of a pool.
type Tokens []JoinToken

// Of returns the token with an ID; false if there is none, so that a Secret of that ID is
// foreign.
func (list Tokens) Of(id string) (JoinToken, bool) {
	n := slices.IndexFunc(list, func(t JoinToken) bool { return t.ID == id })
	if n < 0 {
		return JoinToken{}, false
	}
	return list[n], true
}

// With adds a token whose Secret is about to be created.
func (list Tokens) With(t JoinToken) Tokens { return append(list.Without(t.ID), t) }

// Without removes a token.
func (list Tokens) Without(id string) Tokens {
	return list.drop(func(t JoinToken) bool { return t.ID == id })
}

// Unexpired returns those with which instances can still join.
func (list Tokens) Unexpired(now time.Time) Tokens {
	return list.drop(func(t JoinToken) bool { return !now.Before(t.ExpiresAt) })
}

func (list Tokens) drop(which func(JoinToken) bool) Tokens {
	if list = slices.DeleteFunc(slices.Clone(list), which); len(list) == 0 {
		return nil
	}
	return list
}

// For records the instances of the token of a launch.
func (list Tokens) For(sequence int64, ids []string) Tokens {
	list = slices.Clone(list)
	for n, t := range list {
		if t.Sequence == sequence {
			list[n].Instances = slices.Clone(ids)
		}
	}
	return list
}
