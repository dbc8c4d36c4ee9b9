package cvmsim

import (
	"cmp"
	"io"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// The demo account, which is obviously not a real one.
const (
	DemoAccountID = "100000000001"
	DemoSecretID  = "AKIDlocal0cvm0demo0only0not0a0real0id"
	DemoSecretKey = "local-cvm-demo-only-not-a-real-key"
)

// Options configure a Server. The zero value is a local CVM in memory with the
// demo account, no rate limits, and launches that take a second.
type Options struct {
	// Clock is the base clock for signatures and rate limits; nil means time.Now. The world's clock
	// is the base clock plus the steps of StepClock.
	Clock func() time.Time

	// LaunchDelay is how long an instance stays PENDING. Zero means 1s; a
	// negative one means at once.
	LaunchDelay time.Duration
	// ListingDelay is how late a new instance appears in listings, in queries by tag, and for calls
	// that name it. It is assumed, and documented nowhere, that listings may lag behind a launch,
	// and by how much.
	ListingDelay time.Duration
	// TagDelay is how late tags appear in DescribeInstances and the tag API.
	TagDelay time.Duration
	// TerminateDelay is how long an instance stays TERMINATING. Zero means
	// 500ms; a negative one means at once.
	TerminateDelay time.Duration
	// LaunchFailedLinger is how long a LAUNCH_FAILED instance remains visible. Zero means 1m.
	LaunchFailedLinger time.Duration

	// EnforceRates enables the rate limits of actions.
	EnforceRates bool
	// TagKeyNotFound makes a tag: filter with a key that was never created an
	// error, InvalidParameterValue.TagKeyNotFound, instead of an empty list.
	TagKeyNotFound bool
	// TagValuesPerKey is how many values a tag key may have, over all that was ever tagged in the
	// account; 0 means any number. Tencent Cloud once had a limit of 1,000 (tag errors.go,
	// LimitExceeded.TagValue).
	TagValuesPerKey int
	// TokenMismatchCode is the error code for a ClientToken that is reused with another body; empty
	// means InvalidParameter.ParameterConflict. Tencent Cloud does not document its code.
	TokenMismatchCode string
	// RecycleBin makes TerminateInstances put instances into the recycle bin
	// (SHUTDOWN) first; a second call removes them.
	RecycleBin bool

	// AccountID, SecretID and SecretKey are the only account of the server; empty means the demo
	// account.
	AccountID string
	SecretID  string
	SecretKey string
	// CamRoleName is the role that the metadata service lists if no instance is chosen; empty means
	// "gpu-node".
	CamRoleName string

	// StateDir keeps the state over restarts; empty means memory only.
	StateDir string
	// CallLog gets one line of JSON for each API call, without secrets, signatures and user data.
	CallLog io.Writer
}

func (o Options) withDefaults() Options {
	o.AccountID = cmp.Or(o.AccountID, DemoAccountID)
	o.SecretID = cmp.Or(o.SecretID, DemoSecretID)
	o.SecretKey = cmp.Or(o.SecretKey, DemoSecretKey)
	o.CamRoleName = cmp.Or(o.CamRoleName, "gpu-node")
	o.TokenMismatchCode = cmp.Or(o.TokenMismatchCode, "InvalidParameter.ParameterConflict")
	o.LaunchDelay = max(cmp.Or(o.LaunchDelay, time.Second), 0)
	o.TerminateDelay = max(cmp.Or(o.TerminateDelay, 500*time.Millisecond), 0)
	o.LaunchFailedLinger = max(cmp.Or(o.LaunchFailedLinger, time.Minute), 0)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}

func (o Options) settings() world.Settings {
	return world.Settings{
		LaunchDelay: o.LaunchDelay, ListingDelay: o.ListingDelay, TagDelay: o.TagDelay,
		TerminateDelay: o.TerminateDelay, LaunchFailedLinger: o.LaunchFailedLinger, EnforceRates: o.EnforceRates,
		TagKeyNotFound: o.TagKeyNotFound, RecycleBin: o.RecycleBin, TagValuesPerKey: o.TagValuesPerKey,
		TokenMismatchCode: o.TokenMismatchCode, Balance: world.StartBalance,
	}
}
