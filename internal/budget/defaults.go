package budget

import (
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
		d.TimeZone = or(d.TimeZone, "UTC")
	}
	d.CountFrom = or(d.CountFrom, FromScheduled)
	d.VanishedPods = or(d.VanishedPods, ledger.AtMidpoint)
	d.MaxStatusAge = or(d.MaxStatusAge, DefaultMaxStatusAge)
	e := &d.Enforce
	e.Action = or(e.Action, AlertOnly)
	e.GracePeriod = or(e.GracePeriod, DefaultGracePeriod)
	e.MaxGracePeriod = or(e.MaxGracePeriod, DefaultMaxGracePeriod)
	e.VictimOrder = or(e.VictimOrder, LowestPriority)
	e.MaxGap = or(e.MaxGap, DefaultMaxGap)
	if e.HonourPodProtection == nil {
		e.HonourPodProtection = new(true)
	}
	if e.MaxEvictionsPerRun == 0 {
		e.MaxEvictionsPerRun = DefaultMaxEvictionsPerRun
	}
	return d
}

func or[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

// Limit is the budget's limit in milli-GPU-seconds.
func (d Declaration) Limit() (int64, error) { return ParseHours(d.GPUHours) }

// StatusAge is how old the status may be that lets a spot pool launch.
func (d Declaration) StatusAge() (time.Duration, error) {
	return duration.Parse(or(d.MaxStatusAge, DefaultMaxStatusAge))
}
