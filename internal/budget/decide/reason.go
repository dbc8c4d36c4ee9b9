package decide

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

func (f *facts) used() reason.Reason { return reason.Used(f.consumed()) }

// consumed returns the used GPU-hours, the limit, and the percentage.
func (f *facts) consumed() (used, limit reason.Amount, percent reason.Count) {
	return hours(f.usage.Consumed), hours(f.usage.Limit), reason.Count(budget.Percent(f.usage.Consumed, f.usage.Limit))
}

// reasons returns why the limit is enforced.
func (f *facts) reasons() reason.Reasons {
	reasons := reason.Reasons{f.usedSince()}
	if at := f.status.EnforceAt; at != nil {
		reasons = append(reasons, reason.GraceEnded(reason.Duration(f.Declaration.Enforce.Grace()), reason.Instant{Time: *at}))
	}
	return reasons
}

// usedSince adds since when the limit is reached.
func (f *facts) usedSince() reason.Reason {
	if since := f.Result.ExceededSince; since != nil {
		used, limit, percent := f.consumed()
		return reason.UsedSince(used, limit, percent, reason.Instant{Time: *since})
	}
	return f.used()
}

// recovery returns when usage falls below the limit by itself, if known.
func (f *facts) recovery() reason.Reasons {
	switch at := f.usage.RecoversAt; {
	case at == nil:
		return nil
	case f.Declaration.Period != "":
		return reason.Reasons{reason.PeriodEnds(reason.Instant{Time: *at})}
	default:
		return reason.Reasons{reason.Recovers(reason.Instant{Time: *at})}
	}
}

func gpus(rate int64) reason.Amount { return reason.Amount(budget.MilliGPUs(rate)) }

func hours(amount int64) reason.Amount { return reason.Amount(budget.Hours(amount)) }

// documents returns what was lost of the ledger.
func documents(lost []string) reason.Foreign { return reason.NewForeign(wording.Some(lost)) }

// item returns a pod, and what there is to say of it.
func item(p budget.Pod, why reason.Reason) reason.Item {
	return reason.Item{Name: p.String(), Why: why}
}

// sorted returns the first items by their names.
func sorted(items []reason.Item) reason.Listed {
	return reason.List(slices.SortedFunc(slices.Values(items), func(a, b reason.Item) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Why.String(), b.Why.String()))
	}))
}
