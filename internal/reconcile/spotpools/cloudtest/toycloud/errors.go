package toycloud

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// errNoQuota is typed, too: a class of transient would have the pool wait for a quota
// that never comes.
var errNoQuota = refusal("Markets", errorclass.Configuration, spotpool.ScopePool, "NoQuota", "this cloud has no quota")

// refusal is a call that certainly had no effect.
func refusal(action string, class errorclass.Class, scope spotpool.ErrorScope, code, message string) error {
	return &spotpool.CloudError{Action: action, Class: class, Scope: scope, Code: code, Message: message, NothingLaunched: true}
}

// invalid is a call that fails until its caller changes it.
func invalid(action, message string) error {
	return refusal(action, errorclass.Configuration, spotpool.ScopePool, "Invalid", message)
}

// denied is a call that the credentials do not allow.
func denied(action string) error {
	return refusal(action, errorclass.Authorization, spotpool.ScopePool, "Denied", "these credentials may not call "+action)
}

// lost is a call whose response did not arrive. It may have had an effect, so
// NothingLaunched stays unset.
func lost(action string) error {
	return &spotpool.CloudError{
		Action: action, Class: errorclass.Transient, Scope: spotpool.ScopePool, Code: "ConnectionReset", Message: "the connection was reset",
	}
}
