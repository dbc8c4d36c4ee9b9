package spotpool

import (
	"fmt"
	"strings"
)

// namedAtMost is how many of a list people are shown; the rest is counted.
const namedAtMost = 5

// some names the first of a list and counts the rest.
func some(list []string) string {
	if len(list) <= namedAtMost {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:namedAtMost-1], ", "), len(list)-namedAtMost+1)
}

func isAre(n int) string { return plural(n, "is", "are") }

func hasHave(n int) string { return plural(n, "has", "have") }

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// kindOf says how people call a charge type.
func kindOf(charge ChargeType) string {
	if charge == OnDemand {
		return "on-demand"
	}
	return "spot"
}
