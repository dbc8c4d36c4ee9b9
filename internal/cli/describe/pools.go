package describe

import (
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// ObjectOf names a pool as decisions do.
func ObjectOf(p reconcile.PoolReport) string { return "spot_pool/" + p.Region + "/" + p.Name }

// Number is what was seen of a pool, if it was.
func Number(p reconcile.PoolReport, n int) string {
	if !p.Observed {
		return "-"
	}
	return fmt.Sprint(n)
}

// Limit is what is declared of a pool, where its record can be read.
func Limit(p reconcile.PoolReport, n int) string {
	if p.UID == "" {
		return "-"
	}
	return fmt.Sprint(n)
}

// AboveMaximum says that a pool holds more than it may: what is protected, or
// can't be ended, is not trimmed.
func AboveMaximum(p reconcile.PoolReport) bool { return p.Observed && p.Held > p.Maximum }

func OutcomeColour(o reconcile.Outcome) terminal.Colour {
	switch o {
	case reconcile.Done:
		return terminal.Green
	case reconcile.Planned:
		return terminal.Cyan
	case reconcile.Short:
		return terminal.Yellow
	case reconcile.Failed:
		return terminal.Red
	}
	return terminal.Dim
}

func Price(p spotpool.Price) string {
	if p == 0 {
		return "-"
	}
	return p.String()
}

// Declarations is what so many pools and budgets are called together.
func Declarations(pools, budgets int) string {
	switch {
	case budgets == 0:
		return "pools"
	case pools == 0:
		return "budgets"
	}
	return "declarations"
}

// Age is a length of time to the unit that matters: 12s, 3m, 5h, 8d.
func Age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

func Plural(n int, thing string) string {
	switch {
	case n == 0:
		return "no " + thing + "s"
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "ch"):
		return fmt.Sprintf("%d %ses", n, thing)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
