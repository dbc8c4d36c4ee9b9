package manifests

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// validateSchedule rejects schedules that Kubernetes rejects, with the same parser, and those that
// never match.
func validateSchedule(text string) error {
	if strings.Contains(text, "TZ") { // Kubernetes wants it in spec.timeZone
		return fmt.Errorf("invalid schedule %q: a CronJob's schedule has no time zone", text)
	}
	schedule, err := cron.ParseStandard(text)
	if err != nil {
		return fmt.Errorf("invalid schedule %q: use five cron fields (minute, hour, day of the month, month, day of the week), such as %q, or "+
			"@hourly: %w", text, DefaultSchedule, err)
	}
	if schedule.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() { // any day would do
		return fmt.Errorf("the schedule %q never matches: no day of its months is one of its days", text)
	}
	return nil
}
