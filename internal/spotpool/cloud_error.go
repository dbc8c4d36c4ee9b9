package spotpool

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
)

// ErrorScope says how much of a pool an error rules out.
type ErrorScope string

// The error scopes.
const (
	ScopeOffering ErrorScope = "offering"
	ScopeZone     ErrorScope = "zone"
	ScopePool     ErrorScope = "pool"
)

// CloudError is a refusal or failure of the cloud.
type CloudError struct {
	Class errorclass.Class
	Scope ErrorScope
	// NothingLaunched says that the call certainly had no effect. Where it is false,
	// the call may have launched something.
	NothingLaunched bool
	// Unreachable says that nobody answers at the address: more likely it is a wrong
	// one than a network that fails.
	Unreachable bool
	Action      string // what was asked, "RunInstances"
	Code        string // the cloud's code
	Message     string
	RequestID   string // empty where the cloud never answered
	Remedy      string // what to do next; may be empty
}

// Error says what was asked, what came back, what to do, and the request's id.
func (e *CloudError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: %s", e.Action, e.Code, e.Message)
	if e.Remedy != "" {
		if !strings.HasSuffix(e.Message, ".") {
			b.WriteByte('.')
		}
		b.WriteString(" " + e.Remedy)
	}
	if e.RequestID != "" {
		b.WriteString(" (RequestId " + e.RequestID + ")")
	}
	return b.String()
}

// UsedToken reports whether a launch was refused because its ClientToken was used before,
// for another request. Tencent Cloud documents no code for that, so the message tells.
func (e *CloudError) UsedToken() bool {
	malformed := strings.HasPrefix(e.Code, "InvalidClientToken") || strings.HasPrefix(e.Code, "MissingParameter")
	return e.NothingLaunched && !malformed && strings.Contains(strings.ToLower(e.Message), "clienttoken")
}

// AsCloudError finds the CloudError in err's chain.
func AsCloudError(err error) (*CloudError, bool) {
	var cloud *CloudError
	ok := errors.As(err, &cloud)
	return cloud, ok
}
