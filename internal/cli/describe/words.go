package describe

import (
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Price is a price in CNY, or a dash where it is unknown.
func Price(p spotpool.Price) string {
	if p == 0 {
		return "-"
	}
	return p.String()
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

// Plural counts things: no pods, 1 pod, 2 pods, 2 launches.
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

// Declarations counts pools and budgets together.
func Declarations(pools, budgets int) string {
	switch {
	case budgets == 0:
		return "pools"
	case pools == 0:
		return "budgets"
	}
	return "declarations"
}

// FirstOf names the first few of a list, and counts the others.
func FirstOf(list []string, most int) string {
	if more := len(list) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), more)
	}
	return strings.Join(list, ", ")
}
