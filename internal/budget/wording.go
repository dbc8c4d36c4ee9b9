package budget

import (
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
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

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// stamp writes a moment for people.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func toTime(t ledger.Time) time.Time { return time.UnixMilli(int64(t)).UTC() }

func fromTime(t time.Time) ledger.Time { return ledger.Time(t.UnixMilli()) }
