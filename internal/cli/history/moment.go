package history

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
)

// moment parses a duration before now, or a time.
func moment(flag, s string, now time.Time, zone *time.Location) (time.Time, error) {
	if length, err := duration.Parse(s); err == nil {
		return now.Add(-length), nil
	}
	if at, ok := terminal.ParseMoment(s, now, zone, false); ok {
		return at, nil
	}
	return time.Time{}, fmt.Errorf("--%s: invalid time %q: use a duration before now such as 6h or 7d, or a time. Examples: 2026-11-21T06:00:00Z, "+
		"\"2026-11-21 14:00\" or 14:00 (local time)", flag, s)
}
