package budget

import (
	"cmp"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// What a declaration gets that leaves it out.
const (
	DefaultGracePeriod        = "10m"
	DefaultMaxEvictionsPerRun = 10
	DefaultMaxGracePeriod     = "5m"
	DefaultMaxGap             = "15m"
	DefaultMaxStatusAge       = "1h"
)

// DefaultThresholds are the percents that are told of unless others are named.
func DefaultThresholds() []int { return []int{50, 80, 100} }

// WithDefaults fills in what a user may leave out. The window and the limit have
// no default, and a rolling window has no time zone.
func (d Declaration) WithDefaults() Declaration {
	if d.Thresholds == nil {
		d.Thresholds = DefaultThresholds()
	}
	if d.Period != "" {
		d.TimeZone = cmp.Or(d.TimeZone, "UTC")
	}
	d.CountFrom = cmp.Or(d.CountFrom, FromScheduled)
	d.VanishedPods = cmp.Or(d.VanishedPods, ledger.AtMidpoint)
	d.MaxStatusAge = cmp.Or(d.MaxStatusAge, DefaultMaxStatusAge)
	d.Enforce = d.Enforce.withDefaults()
	return d
}

func (e Enforcement) withDefaults() Enforcement {
	e.Action = cmp.Or(e.Action, AlertOnly)
	e.GracePeriod = cmp.Or(e.GracePeriod, DefaultGracePeriod)
	e.MaxGracePeriod = cmp.Or(e.MaxGracePeriod, DefaultMaxGracePeriod)
	e.VictimOrder = cmp.Or(e.VictimOrder, LowestPriority)
	e.MaxGap = cmp.Or(e.MaxGap, DefaultMaxGap)
	e.MaxEvictionsPerRun = cmp.Or(e.MaxEvictionsPerRun, DefaultMaxEvictionsPerRun)
	e.HonourPodProtection = cmp.Or(e.HonourPodProtection, new(true))
	return e
}

// Limit is the budget's limit in milli-GPU-seconds.
func (d Declaration) Limit() (int64, error) { return ParseHours(d.GPUHours) }

// StatusAge is how old the status may be that lets a spot pool launch.
func (d Declaration) StatusAge() (time.Duration, error) {
	return duration.Parse(d.WithDefaults().MaxStatusAge)
}

// grace is how long nothing is done after the limit was reached.
func (e Enforcement) grace() time.Duration {
	return lengthOr(e.withDefaults().GracePeriod, LongestDuration)
}

// maxGrace is how long pods may take to end.
func (e Enforcement) maxGrace() time.Duration {
	return lengthOr(e.withDefaults().MaxGracePeriod, LongestDuration)
}

// maxGap is the longest gap after which pods may be ended on estimates.
func (e Enforcement) maxGap() time.Duration { return lengthOr(e.withDefaults().MaxGap, 0) }

// HonoursPods says whether what is written on a pod itself spares it.
func (e Enforcement) HonoursPods() bool { return *e.withDefaults().HonourPodProtection }

// lengthOr reads a length of time. One that can't be read, which no valid declaration
// has, is the one that does least.
func lengthOr(text string, careful time.Duration) time.Duration {
	length, err := duration.Parse(text)
	if err != nil {
		return careful
	}
	return length
}
