// Package duration parses and formats durations in the form that people use, in pools, budgets,
// functions and flags.
package duration

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// ErrTooLong reports a duration in the right form that overflows.
var ErrTooLong = errors.New("it is longer than 292 years")

// form has weeks and days, which are whole and come first, and then Go's form.
var form = regexp.MustCompile(`^(?:([0-9]+)w)?(?:([0-9]+)d)?((?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))*)$`)

// Parse parses "90s", "15m", "1h30m", "7d", "1d12h" or "2w". A day has 24 hours. A duration is
// never negative.
func Parse(s string) (time.Duration, error) {
	parts := form.FindStringSubmatch(s)
	switch {
	case s == "0":
		return 0, nil
	case s == "" || parts == nil:
		return 0, fmt.Errorf("invalid duration %q: use numbers and units such as \"90s\", \"15m\", \"1h30m\" or \"7d\"", s)
	}
	tooLong := fmt.Errorf("%q is out of range: %w", s, ErrTooLong)
	var total time.Duration
	if parts[3] != "" {
		var err error
		if total, err = time.ParseDuration(parts[3]); err != nil {
			return 0, tooLong // the form is right, so there is no other error
		}
	}
	for n, unit := range []time.Duration{week, day} {
		if parts[n+1] == "" {
			continue
		}
		count, err := strconv.ParseInt(parts[n+1], 10, 64)
		if err != nil || count > int64((math.MaxInt64-total)/unit) {
			return 0, tooLong
		}
		total += time.Duration(count) * unit
	}
	return total, nil
}

// String formats a duration in hours and smaller units, without trailing zero units: "15m", not
// "15m0s". Documents and Terraform's values have this form.
func String(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Words formats a duration for people: like String, and whole days as "7d".
func Words(d time.Duration) string {
	if d > 0 && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	return String(d)
}
