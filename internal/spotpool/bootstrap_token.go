package spotpool

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// BootstrapToken says that each launch is given a token, by which its instances join
// their cluster.
type BootstrapToken struct {
	Groups []string `json:"groups"` // in which whoever has it signs in
	TTL    Duration `json:"ttl"`    // from the making on
}

// BootstrapTokenPlaceholder stands in user data for the token of the launch.
const BootstrapTokenPlaceholder = "{{GPUPOOL_BOOTSTRAP_TOKEN}}"

// DefaultTokenTTL leaves an image that installs drivers first the time to join.
const DefaultTokenTTL = Duration(30 * 60e9)

// The range of a token's ttl. A machine takes minutes to start; and what is valid for
// longer than a day can be stolen in peace.
const (
	shortestTokenTTL = 5 * time.Minute
	longestTokenTTL  = 24 * time.Hour
)

// Characters of a token's two parts, as Kubernetes has them.
const (
	TokenCharacters   = "0123456789abcdefghijklmnopqrstuvwxyz"
	tokenIDLength     = 6
	TokenSecretLength = 16
)

// withDefaults fills in what is left out.
func (b BootstrapToken) withDefaults() *BootstrapToken {
	if b.TTL == 0 {
		b.TTL = DefaultTokenTTL
	}
	return &b
}

func (v *validator) bootstrapToken() {
	b, has := v.d.BootstrapToken, strings.Contains(v.d.UserData, BootstrapTokenPlaceholder)
	if b == nil {
		if has {
			v.Add("bootstrap_token", "Say in which groups the instances' token signs in, such as bootstrap_token = { groups = "+
				"[\"system:bootstrappers:kubeadm:default-node-token\"] }, or take the placeholder out of user_data.",
				"user_data has the placeholder %s, and there is no bootstrap_token", BootstrapTokenPlaceholder)
		}
		return
	}
	if !has {
		v.Add("user_data", fmt.Sprintf("Write %s where the instance is to find its token, or leave bootstrap_token out.", BootstrapTokenPlaceholder),
			"user data has no placeholder for the bootstrap token, and no instance would learn it")
	}
	if v.d.Nodes == nil {
		v.Add("nodes", "Add nodes = {}: by its nodes, gpupool knows when the instances have joined, and the token goes.",
			"the pool has a bootstrap_token, and its instances are no nodes")
	}
	if len(b.Groups) == 0 {
		v.Add("bootstrap_token.groups", "Name the group that the cluster lets join: \"system:bootstrappers:kubeadm:default-node-token\" of one that "+
			"kubeadm made.", "the bootstrap token has no group, and could do nothing")
	}
	for n, group := range b.Groups {
		if !node.BootstrapGroup(group) {
			v.Add(fmt.Sprintf("bootstrap_token.groups[%d]", n), "Kubernetes takes system:bootstrappers: and then 1 to 256 lower-case letters, digits, "+
				"colons and hyphens, with a letter or digit last.", "%q is no group of bootstrap tokens", group)
		}
	}
	v.Lasts("bootstrap_token.ttl", b.TTL.words(), time.Duration(b.TTL), shortestTokenTTL, longestTokenTTL,
		"Write how long after its launch an instance may need to join, such as \"30m\".")
}

// filledIn is the user data as an instance gets it: with a token in the place of the
// placeholder.
func filledIn(userData, token string) string {
	return strings.ReplaceAll(userData, BootstrapTokenPlaceholder, token)
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
	id, number := make([]byte, tokenIDLength), binary.BigEndian.Uint64(sum[:])
	for at := range id {
		id[at] = TokenCharacters[number%uint64(len(TokenCharacters))]
		number /= uint64(len(TokenCharacters))
	}
	return string(id)
}

// Joining is the request with a token filled into its user data.
func (r Request) Joining(id, secret string) Request {
	r.BootstrapToken = id + "." + secret
	r.UserData = filledIn(r.UserData, r.BootstrapToken)
	return r
}

// TokenParts are the id and the secret of the request's bootstrap token; empty where it
// has none.
func (r Request) TokenParts() (id, secret string) {
	id, secret, _ = strings.Cut(r.BootstrapToken, ".")
	return id, secret
}

// Minted is a bootstrap token whose Secret the cluster has, or may have. Its own secret
// is in the open intent alone.
type Minted struct {
	ID        string    `json:"id"`
	Sequence  int64     `json:"sequence"`
	ExpiresAt time.Time `json:"expires_at"` // by the cluster's clock
	// Instances are those that the launch made; none before that is known.
	Instances []string `json:"instances,omitempty"`
}

// LastsOn says whether a token is valid for so long still that a repeat of its launch
// leaves its Secret as it is: for more than half of the time that a new one would be.
func (m Minted) LastsOn(now time.Time, ttl Duration) bool {
	return m.ExpiresAt.Sub(now) > time.Duration(ttl)/2
}

// Noted is what is noted of a token; false where nothing is, and a Secret of that id is
// somebody else's.
func (j Journal) Noted(id string) (Minted, bool) {
	n := slices.IndexFunc(j.Minted, func(m Minted) bool { return m.ID == id })
	if n < 0 {
		return Minted{}, false
	}
	return j.Minted[n], true
}

// Mints notes that the Secret of a launch's token is about to be made, or to be made
// anew.
func (j Journal) Mints(m Minted) Journal {
	j = j.Clone()
	j.Minted = append(slices.DeleteFunc(j.Minted, func(other Minted) bool { return other.ID == m.ID }), m)
	return j
}

// TokenEnded forgets a token whose Secret is gone.
func (j Journal) TokenEnded(id string) Journal {
	j = j.Clone()
	j.Minted = slices.DeleteFunc(j.Minted, func(m Minted) bool { return m.ID == id })
	if len(j.Minted) == 0 {
		j.Minted = nil
	}
	return j
}

// WithoutExpired is the journal without the tokens that nobody can join by any more.
func (j Journal) WithoutExpired(now time.Time) Journal {
	j = j.Clone()
	j.Minted = slices.DeleteFunc(j.Minted, func(m Minted) bool { return !now.Before(m.ExpiresAt) })
	return j
}

// awaited notes whom the token of a launch is for; j must be a clone.
func (j *Journal) awaited(sequence int64, ids []string) {
	for n, m := range j.Minted {
		if m.Sequence == sequence {
			j.Minted[n].Instances = slices.Clone(ids)
		}
	}
}
