package spotpool

import "strings"

// Request is one launch. The call is built only from it, so that a retry sends the identical
// body.
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
	// BootstrapToken is filled into the user data; empty if there is no placeholder, or
	// before that.
	BootstrapToken string `json:"bootstrap_token,omitempty"`
	Configuration
}

// Joining returns the request with a token filled into its user data.
func (r Request) Joining(id, secret string) Request {
	r.BootstrapToken = id + "." + secret
	r.UserData, r.UserDataWO = insertToken(r.Script(), r.BootstrapToken), ""
	return r
}

// TokenParts returns the ID and the secret of the request's bootstrap token; empty if it has
// none.
func (r Request) TokenParts() (id, secret string) {
	id, secret, _ = strings.Cut(r.BootstrapToken, ".")
	return id, secret
}
