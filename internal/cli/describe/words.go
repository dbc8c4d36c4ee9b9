package describe

import (
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Price is a price in CNY, or a dash where it is unknown.
func Price(p spotpool.Price) string {
	if p == 0 {
		return "-"
	}
	return p.String()
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
