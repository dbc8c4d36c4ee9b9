package cvmsim

import (
	"fmt"
	"io"
	"time"
)

// The demo account: obviously not a real one.
const (
	DemoAccountID = "100000000001"
	DemoSecretID  = "AKIDlocal0cvm0demo0only0not0a0real0id"
	DemoSecretKey = "local-cvm-demo-only-not-a-real-key"
)

// Options configure a Server. The zero value is a local CVM in memory with the
// demo account, no rate limits, and launches that take a second.
type Options struct {
	// Clock is the base clock; nil means time.Now. Signatures and rate limits
	// are judged by it. The world's clock is the base clock plus what
	// StepClock has added.
	Clock func() time.Time

	// LaunchDelay is how long an instance stays PENDING. Zero means 1s; a
	// negative one means at once.
	LaunchDelay time.Duration
	// ListingDelay is how late a new instance shows in listings, in queries by
	// tag, and to calls that name it. That a listing may lag behind a launch is
	// assumed, documented nowhere; so is by how much.
	ListingDelay time.Duration
	// TagDelay is how late tags show in DescribeInstances and the tag API.
	TagDelay time.Duration
	// TerminateDelay is how long an instance stays TERMINATING. Zero means
	// 500ms; a negative one means at once.
	TerminateDelay time.Duration
	// LaunchFailedLinger is how long a LAUNCH_FAILED instance stays to be
	// seen before it disappears by itself. Zero means 1m.
	LaunchFailedLinger time.Duration

	// EnforceRates turns the per-action rate limits on.
	EnforceRates bool
	// TagKeyNotFound makes a tag: filter with a key that was never created an
	// error, InvalidParameterValue.TagKeyNotFound, instead of an empty list.
	TagKeyNotFound bool
	// TagValuesPerKey is how many values a tag key may have, over all that was
	// ever tagged in the account; 0 means any number. The cloud once had a limit
	// of 1,000 (tag errors.go, LimitExceeded.TagValue).
	TagValuesPerKey int
	// TokenMismatchCode answers a ClientToken that comes back with another
	// body; empty means InvalidParameter.ParameterConflict. What the cloud
	// answers is not documented.
	TokenMismatchCode string
	// RecycleBin makes TerminateInstances put instances into the recycle bin
	// (SHUTDOWN) first; a second call removes them.
	RecycleBin bool

	// AccountID, SecretID and SecretKey are the one account that the server
	// knows; empty means the demo account.
	AccountID string
	SecretID  string
	SecretKey string
	// CamRoleName is the role that the metadata service lists where no
	// instance is chosen; empty means "gpu-node".
	CamRoleName string

	// StateDir keeps the state there over restarts; empty means memory only.
	StateDir string
	// CallLog gets one line of JSON for each API call: no secret, signature
	// or user data.
	CallLog io.Writer
}

func (o Options) withDefaults() Options {
	setDefault(&o.AccountID, DemoAccountID)
	setDefault(&o.SecretID, DemoSecretID)
	setDefault(&o.SecretKey, DemoSecretKey)
	setDefault(&o.CamRoleName, "gpu-node")
	setDefault(&o.TokenMismatchCode, "InvalidParameter.ParameterConflict")
	setDefault(&o.LaunchDelay, time.Second)
	setDefault(&o.TerminateDelay, 500*time.Millisecond)
	setDefault(&o.LaunchFailedLinger, time.Minute)
	o.LaunchDelay = max(o.LaunchDelay, 0)
	o.TerminateDelay = max(o.TerminateDelay, 0)
	o.LaunchFailedLinger = max(o.LaunchFailedLinger, 0)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Duration is a time.Duration that is written as text, "1m30s", in JSON.
type Duration time.Duration

// MarshalText writes the duration as Go does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads a duration as Go does.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("must be a duration like \"90s\" or \"20m\", not %q", text)
	}
	*d = Duration(v)
	return nil
}

func assignDuration(field *time.Duration, value *Duration) {
	if value != nil {
		*field = time.Duration(*value)
	}
}

// Settings are the options that can be changed while the server runs; nil
// fields stay as they are.
type Settings struct {
	LaunchDelay        *Duration `json:"launch_delay,omitempty"`
	ListingDelay       *Duration `json:"listing_delay,omitempty"`
	TagDelay           *Duration `json:"tag_delay,omitempty"`
	TerminateDelay     *Duration `json:"terminate_delay,omitempty"`
	LaunchFailedLinger *Duration `json:"launch_failed_linger,omitempty"`
	EnforceRates       *bool     `json:"enforce_rates,omitempty"`
	TagKeyNotFound     *bool     `json:"tag_key_not_found,omitempty"`
	TagValuesPerKey    *int      `json:"tag_values_per_key,omitempty"`
	TokenMismatchCode  *string   `json:"token_mismatch_code,omitempty"`
	RecycleBin         *bool     `json:"recycle_bin,omitempty"`
	// Balance is the account's balance in CNY, a decimal string. A launch
	// that costs more in one hour is refused.
	Balance *string `json:"balance,omitempty"`
}
