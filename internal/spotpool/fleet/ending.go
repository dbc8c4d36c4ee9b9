package fleet

import (
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Ending is the end of instances of one market that the pool did not terminate.
type Ending struct {
	Market       spotpool.Market
	IDs          []string
	LaunchFailed bool // else they were reclaimed or terminated, or are about to be
	how          reason.Reason
	notice       reason.Reason // what an interruption notice says; else zero
}

// Reason returns what ended, and how.
func (e Ending) Reason() reason.Reason {
	if !e.notice.IsZero() {
		return e.notice
	}
	return reason.Ended(e.IDs, reason.Word(e.Market.String()), e.how)
}

// noticed reports whether an interruption notice of the instance was reported, and not
// withdrawn since.
func (k Known) noticed() bool { return !k.ReportedTakenAt.IsZero() }

// endReason returns why an instance that is listed terminates, or has terminated.
func (k Known) endReason(i spotpool.Instance) reason.Reason {
	state := reason.Word(i.State)
	if i.State != spotpool.StateLaunchFailed {
		if k.noticed() {
			return reason.EndedAsNoticed(state)
		}
		return reason.EndedElsewhere(state)
	}
	if why := strings.TrimSpace(i.OperationError); why != "" {
		return reason.LaunchFailed(reason.NewForeign(why))
	}
	return reason.LaunchFailedFor()
}

// goneReason returns why an instance is gone that the pool did not terminate.
func (k Known) goneReason() reason.Reason {
	if k.noticed() {
		return reason.GoneAsNoticed()
	}
	return reason.GoneElsewhere()
}
