package spotpool

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
)

// Duration is a length of time, written as Go writes it ("15m") in documents.
type Duration time.Duration

// ParseDuration reads "90s", "15m", "1h30m" or "7d". It must not be negative.
func ParseDuration(s string) (Duration, error) {
	d, err := duration.Parse(s)
	return Duration(d), err
}

// String writes the duration without trailing zero units: "15m", not "15m0s".
func (d Duration) String() string { return duration.String(time.Duration(d)) }

// words writes the duration for people, with days.
func (d Duration) words() string { return duration.Words(time.Duration(d)) }

// MarshalJSON writes the duration as a string.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var s *string
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("a duration must be a string: %w", err)
	}
	if s == nil {
		return nil
	}
	parsed, err := ParseDuration(*s)
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}
