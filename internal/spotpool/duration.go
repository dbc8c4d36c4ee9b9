package spotpool

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Duration is a length of time, written as Go writes it ("15m") in documents.
type Duration time.Duration

// ParseDuration reads "90s", "15m" or "1h30m". It must not be negative.
func ParseDuration(s string) (Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no duration: write a number and a unit such as \"90s\", \"15m\" or \"1h30m\"", s)
	}
	return Duration(d), nil
}

// String writes the duration without trailing zero units: "15m", not "15m0s".
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

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
