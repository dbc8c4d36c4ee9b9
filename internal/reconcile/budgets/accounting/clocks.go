package accounting

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// clocksApart is the largest difference between the clocks of the cluster and of this machine, unless
// the cluster's clock agrees with the last run.
const clocksApart = time.Hour

// believeClock refuses a time of the cluster that nothing confirms: what is
// written at a wrong one is wrong for good.
func believeClock(cluster, local, lastRun time.Time) error {
	if cluster.Sub(local).Abs() <= clocksApart || !lastRun.IsZero() && cluster.Sub(lastRun).Abs() <= clocksApart {
		return nil
	}
	last := "there was no run before"
	if !lastRun.IsZero() {
		last = "the last run read " + lastRun.UTC().Format(time.RFC3339) + " there"
	}
	return fmt.Errorf("the clock of the cluster's API server reads %s, this machine's clock reads %s, and %s: nothing was counted or written. Set the clock "+
		"that is wrong, and run again",
		cluster.UTC().Format(time.RFC3339), local.UTC().Format(time.RFC3339), last)
}

// clocksWarned is the largest difference without a warning. Beyond it, Tencent Cloud rejects requests as
// well.
const clocksWarned = 5 * time.Minute

// clockWarning returns by how much this machine's clock is ahead of the API server's, and
// what that means.
func clockWarning(ahead time.Duration) reason.Reason {
	by := reason.Duration(ahead.Abs().Round(time.Minute))
	if ahead < 0 {
		return reason.ClockBehind(by)
	}
	return reason.ClockAhead(by)
}
