package reconcile

import (
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const (
	// quiet is the longest time between two renewals of the lock of a live run.
	quiet = 25 * time.Second
	// A run takes too long at this multiple of the usual interval, but not before tooLongFrom.
	tooLongAt   = 3
	tooLongFrom = 15 * time.Minute
)

// runs returns what there is to say of runs: that one is in progress, was killed, or is overdue.
func (r StatusReport) runs() (list reason.Reasons) {
	if late := r.Overdue; late != nil && r.LastRun != nil {
		list = append(list, r.overdue(reason.Instant{Time: r.LastRun.StartedAt}, reason.Duration(late.UsualSeconds)*reason.Duration(time.Second)))
	}
	if h := r.Killed; h != nil {
		command, started := reason.NewForeign(h.Command), reason.Instant{Time: h.Since}
		why := reason.RunKilled(command, started)
		if h.Host != r.host {
			why = reason.RunKilledOn(command, reason.NewForeign(h.Host), started)
		}
		list = append(list, why)
	}
	if h := r.UnderWay; h != nil {
		list = append(list, reason.RunInProgress(reason.Instant{Time: h.Since}, reason.NewForeign(h.Command), reason.Count(h.PID), reason.NewForeign(h.Host)))
		list = append(list, r.slow(*h)...)
	}
	return list
}

// overdue says since when no run has come, why if that is known, and what to do.
func (r StatusReport) overdue(started reason.Instant, usual reason.Duration) reason.Reason {
	switch namespace, inCluster := strings.CutPrefix(r.Store, "kubernetes:"); {
	case r.Store == "":
		return reason.RunOverdue(started, usual)
	case r.Unwritable != "":
		return reason.StoreUnwritable(started, reason.NewForeign(r.Unwritable))
	case inCluster:
		return reason.RunOverdueInCluster(started, usual, reason.NewForeign(namespace+"-run"))
	}
	return reason.RunOverdueHere(started, usual)
}

// slow says whether the run in progress may hang.
func (r StatusReport) slow(h store.Holder) (list reason.Reasons) {
	if silent := r.At.Sub(h.Heard); !h.Heard.IsZero() && silent >= quiet {
		list = append(list, reason.RunSilent(reason.Duration(silent.Round(time.Second)), reason.Instant{Time: h.Until}))
	}
	if r.LastRun == nil {
		return list
	}
	if usual := r.LastRun.Usual(); usual != 0 && r.At.Sub(h.Since) >= max(tooLongAt*usual, tooLongFrom) {
		list = append(list, reason.RunTooLong(reason.Duration(usual.Round(time.Second))))
	}
	return list
}
