package decide

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// doubt returns why nothing destructive is done although the limit is reached; zero if it is. If part of the ledger
// is lost, or observation was interrupted for too long, only certain usage counts: it must reach the limit.
func (f *facts) doubt() reason.Reason {
	certain, lost, most := f.usage.Certain(), f.Result.Lost, f.Declaration.Enforce.LongestGap()
	switch {
	case f.Result.EndsLost:
		return reason.EndsLost(documents(lost))
	case certain >= f.usage.Limit:
		return reason.Reason{}
	case len(lost) > 0:
		return reason.UncertainLost(hours(certain), hours(f.usage.Limit), documents(lost))
	case f.Result.LongestGap <= most:
		return reason.Reason{}
	}
	return reason.UncertainGap(hours(certain), hours(f.usage.Limit), reason.Duration(f.Result.LongestGap), reason.Duration(most))
}

// withhold warns that nothing destructive is done.
func withhold(f *facts) (r result) {
	r.withheld = f.doubt()
	r.warn(reason.Withheld(reason.Word(f.Declaration.Enforce.Action.Past()), r.withheld))
	return r
}

// warn warns of uncertain usage, and of what the cluster does not have.
func warn(f *facts) (r result) {
	for _, lost := range f.Result.Lost {
		r.warn(reason.PartLost(reason.NewForeign(lost)))
	}
	if len(f.Result.Lost) > 0 && f.status.Unknown != nil {
		r.warn(reason.AcceptLoss(f.used()))
	}
	if f.Result.Forgotten {
		r.warn(reason.Forgotten(reason.Instant{Time: f.usage.WindowStart}, reason.Instant{Time: *f.Result.KnownSince}))
	}
	r.warn(budget.EstimateWarnings(f.usage)...)
	if f.Result.Unbounded {
		r.warn(reason.Unbounded())
	}
	r.warn(budget.LostPauses(f.Lost)...)
	r.warn(f.ClusterDoubts...)
	if len(f.Result.Overlaps) > 0 && f.Declaration.Enforce.Action != budget.AlertOnly {
		var others reason.Objects
		for _, name := range f.Result.Overlaps {
			others = append(others, reason.Object("budget/"+name))
		}
		r.warn(reason.Overlaps(others))
	}
	return r
}
