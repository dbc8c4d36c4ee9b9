package spotpool

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// ErrorScope is how much of a pool an error rules out.
type ErrorScope string

// The error scopes.
const (
	ScopeOffering ErrorScope = "offering"
	ScopeZone     ErrorScope = "zone"
	ScopePool     ErrorScope = "pool"
)

// CloudError is a call that Tencent Cloud refused or failed.
type CloudError struct {
	Class errorclass.Class
	Scope ErrorScope
	// NothingLaunched says that the call certainly had no effect. If it is false, the call
	// may have launched instances.
	NothingLaunched bool
	// Unreachable says that no server answers at the address, which is probably wrong.
	Unreachable bool
	Action      string // such as "RunInstances"
	Code        string // Tencent Cloud's
	Message     string
	RequestID   string // empty if there was no response
	// Remedy is an instruction; zero if only waiting helps.
	Remedy reason.Reason
}

// Error returns the action, the code, the message, the remedy and the request ID.
func (e *CloudError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: %s", e.Action, e.Code, e.Message)
	if !e.Remedy.IsZero() {
		if !strings.HasSuffix(e.Message, ".") {
			b.WriteByte('.')
		}
		b.WriteString(" " + e.Remedy.String())
	}
	if e.RequestID != "" {
		b.WriteString(" (RequestId " + e.RequestID + ")")
	}
	return b.String()
}

// Because returns the action, the code, the message and the request ID. Its remedy is that of the code.
func (e *CloudError) Because() reason.Reason {
	action, code, remedy := reason.Word(e.Action), reason.Word(e.Code), reason.Reasons{}.With(e.Remedy)
	if e.RequestID == "" {
		return reason.CloudFailed(action, code, reason.NewForeign(e.Message), remedy)
	}
	return reason.CloudRefused(action, code, reason.NewForeign(strings.TrimSuffix(e.Message, ".")), reason.Word(e.RequestID), remedy)
}

// UsedToken reports whether a launch was refused because its ClientToken was used before,
// for another request. Tencent Cloud documents no code for that, so it goes by the message.
func (e *CloudError) UsedToken() bool {
	malformed := strings.HasPrefix(e.Code, "InvalidClientToken") || strings.HasPrefix(e.Code, "MissingParameter")
	return e.NothingLaunched && !malformed && strings.Contains(strings.ToLower(e.Message), "clienttoken")
}

// AsCloudError returns the CloudError in err's chain.
func AsCloudError(err error) (*CloudError, bool) {
	var cloud *CloudError
	ok := errors.As(err, &cloud)
	return cloud, ok
}
