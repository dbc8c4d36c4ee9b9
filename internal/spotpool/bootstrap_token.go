package spotpool

import (
	"fmt"
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
	TokenIDLength     = 6
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
	b, has := v.d.BootstrapToken, strings.Contains(v.d.Script(), BootstrapTokenPlaceholder)
	if v.d.UserDataWOVersion != 0 && v.d.UserDataWO == "" { // nobody who plans knows it
		has = b != nil
	}
	if b == nil {
		if has {
			v.Add("bootstrap_token", "Say in which groups the instances' token signs in, such as bootstrap_token = { groups = "+
				"[\"system:bootstrappers:kubeadm:default-node-token\"] }, or take the placeholder out of user_data_raw.",
				"user_data_raw has the placeholder %s, and there is no bootstrap_token", BootstrapTokenPlaceholder)
		}
		return
	}
	if !has {
		v.Add("user_data_raw", fmt.Sprintf("Write %s where the instance is to find its token, or leave bootstrap_token out.", BootstrapTokenPlaceholder),
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
