package spotpool

import (
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// BootstrapToken gives each launch a token, with which its instances join their cluster.
type BootstrapToken struct {
	Groups []string `json:"groups"` // of a kubelet that authenticates with the token
	TTL    Duration `json:"ttl"`    // from its creation
}

// BootstrapTokenPlaceholder is replaced with the token of the launch in user data.
const BootstrapTokenPlaceholder = "{{GPUPOOL_BOOTSTRAP_TOKEN}}"

// DefaultTokenTTL leaves an image that installs drivers first the time to join.
const DefaultTokenTTL = Duration(30 * 60e9)

// The range of a token's ttl. An instance takes minutes to start, and a token that is valid
// for longer than a day is worth stealing.
const (
	shortestTokenTTL = 5 * time.Minute
	longestTokenTTL  = 24 * time.Hour
)

// Characters of a token's two parts, as Kubernetes has them.
const (
	TokenCharacters   = "0123456789abcdefghijklmnopqrstuvwxyz"
	TokenIDLength     = 6
	TokenSecretLength = 16
)

func (b BootstrapToken) withDefaults() *BootstrapToken {
	if b.TTL == 0 {
		b.TTL = DefaultTokenTTL
	}
	return &b
}

func (v *validator) bootstrapToken() {
	b, has := v.d.BootstrapToken, strings.Contains(v.d.Script(), BootstrapTokenPlaceholder)
	if v.d.UserDataWOVersion != 0 && v.d.UserDataWO == "" { // a plan does not know it
		has = b != nil
	}
	if b == nil {
		if has {
			v.Add("bootstrap_token", reason.TokenUndeclared(BootstrapTokenPlaceholder))
		}
		return
	}
	if !has {
		v.Add("user_data_raw", reason.TokenUnread(BootstrapTokenPlaceholder))
	}
	if v.d.Nodes == nil {
		v.Add("nodes", reason.TokenNoNodes())
	}
	if len(b.Groups) == 0 {
		v.Add("bootstrap_token.groups", reason.TokenNoGroup())
	}
	for n, group := range b.Groups {
		if !node.BootstrapGroup(group) {
			v.Add(fmt.Sprintf("bootstrap_token.groups[%d]", n), reason.TokenGroup(reason.Quoted(group)))
		}
	}
	v.Lasts("bootstrap_token.ttl", b.TTL.words(), time.Duration(b.TTL), shortestTokenTTL, longestTokenTTL, reason.TokenTTLRange)
}

// insertToken returns the user data with a token in place of the placeholder.
func insertToken(userData, token string) string {
	return strings.ReplaceAll(userData, BootstrapTokenPlaceholder, token)
}
