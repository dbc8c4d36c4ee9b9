package budget

import (
	"fmt"
	"time"
)

// doubt says why nothing destructive may be done, though the limit is reached;
// empty where it may. What was seen for certain must reach the limit alone where
// observation was interrupted for longer than the budget allows.
func (d *decider) doubt() string {
	if lost := d.Result.Lost; len(lost) > 0 {
		return "part of the ledger is lost, " + some(lost)
	}
	certain := d.usage.Consumed - d.usage.Estimated
	if certain >= d.usage.Limit || d.Result.LongestGap <= d.maxGap() {
		return ""
	}
	return fmt.Sprintf("%s of %s GPU-hours are certain, the rest is estimated, and nothing was observed for %s, longer than max_gap %s", Hours(certain), Hours(d.usage.Limit), length(d.Result.LongestGap), length(d.maxGap()))
}

func (d *decider) maxGap() time.Duration {
	gap, err := parseDuration(or(d.Declaration.Enforce.MaxGap, DefaultMaxGap))
	if err != nil {
		return 0
	}
	return gap
}

// doubtWarnings say what makes the usage itself uncertain.
func (d *decider) doubtWarnings() {
	for _, lost := range d.Result.Lost {
		d.warn("part of the ledger is lost, so usage may be higher: %s", lost)
	}
	if d.Result.Unbounded {
		d.warn("nothing bounds what was used in a gap of observation: usage may be higher than the error bound says")
	}
}
