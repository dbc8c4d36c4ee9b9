package spotpool

import (
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
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
			v.Add("bootstrap_token", "Set the groups of the instances' token, such as bootstrap_token = { groups = "+
				"[\"system:bootstrappers:kubeadm:default-node-token\"] }, or remove the placeholder from user_data_raw.",
				"user_data_raw has the placeholder %s, and there is no bootstrap_token", BootstrapTokenPlaceholder)
		}
		return
	}
	if !has {
		v.Add("user_data_raw", fmt.Sprintf("Write %s where the instance reads its token, or omit bootstrap_token.", BootstrapTokenPlaceholder),
			"user data has no placeholder for the bootstrap token, so no instance would get one")
	}
	if v.d.Nodes == nil {
		v.Add("nodes", "Add nodes = {}: the pool's nodes show when an instance has joined, and its token is deleted.",
			"the pool has a bootstrap_token, and no nodes")
	}
	if len(b.Groups) == 0 {
		v.Add("bootstrap_token.groups", "Set a group that may join the cluster: \"system:bootstrappers:kubeadm:default-node-token\" in a kubeadm "+
			"cluster.", "the bootstrap token has no group, and gives no rights")
	}
	for n, group := range b.Groups {
		if !node.BootstrapGroup(group) {
			v.Add(fmt.Sprintf("bootstrap_token.groups[%d]", n), "Write system:bootstrappers: and then 1 to 256 lower-case letters, digits, "+
				"colons and hyphens, with a letter or digit last.", "invalid bootstrap token group %q", group)
		}
	}
	v.Lasts("bootstrap_token.ttl", b.TTL.words(), time.Duration(b.TTL), shortestTokenTTL, longestTokenTTL,
		"Write how long an instance may take to join after its launch, such as \"30m\".")
}

// insertToken returns the user data with a token in place of the placeholder.
func insertToken(userData, token string) string {
	return strings.ReplaceAll(userData, BootstrapTokenPlaceholder, token)
}
