package budgets

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Outlook describes the usage of an exceeded budget, and what follows from it; nil if it is not known to be exceeded.
func (b Report) Outlook() reason.Reasons {
	u := b.UsageReport
	if u == nil || u.Exceeded == nil || !*u.Exceeded {
		return nil
	}
	used, limit, percent := reason.Amount(u.ConsumedGPUHours), reason.Amount(*u.LimitGPUHours), reason.Count(*u.UsedPercent)
	outlook := reason.Reasons{reason.Used(used, limit, percent)}
	if since := u.ExceededSince; since != nil {
		outlook = reason.Reasons{reason.UsedSince(used, limit, percent, reason.Instant{Time: *since})}
	}
	if u.ActivePods > 0 {
		outlook = append(outlook, reason.InUse(reason.Count(u.ActivePods), reason.Amount(u.BurnRateGPUs)))
	}
	switch at, rolling := u.RecoversAt, !u.WindowEnd.After(u.AsOf); {
	case at != nil && rolling:
		outlook = append(outlook, reason.Recovers(reason.Instant{Time: *at}))
	case at != nil:
		outlook = append(outlook, reason.PeriodEnds(reason.Instant{Time: *at}))
	}
	switch action := reason.Word(b.Action); {
	case b.Action == budget.AlertOnly:
		outlook = append(outlook, reason.AlertOnly())
	case b.EnforceAt != nil && b.EnforceAt.After(u.AsOf):
		outlook = append(outlook, reason.GraceLasts(reason.Instant{Time: *b.EnforceAt}, action))
	case b.EnforceAt != nil:
		outlook = append(outlook, reason.GraceOver(action))
	}
	return outlook
}
