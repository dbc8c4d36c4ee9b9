package spotpool

import "strings"

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

// Joining is the request with a token filled into its user data.
func (r Request) Joining(id, secret string) Request {
	r.BootstrapToken = id + "." + secret
	r.UserData, r.UserDataWO = filledIn(r.Script(), r.BootstrapToken), ""
	return r
}

// TokenParts are the id and the secret of the request's bootstrap token; empty where it
// has none.
func (r Request) TokenParts() (id, secret string) {
	id, secret, _ = strings.Cut(r.BootstrapToken, ".")
	return id, secret
}
