package cvmsim

import (
	"fmt"
	"time"
)

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
