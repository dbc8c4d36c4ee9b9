package budgets

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
)

// Description is a budget, as the last run measured it.
type Description struct {
	Report
	// The budget's states: its limit first, then its enforcement.
	State []state.State `json:"state"`
	// The phase of the budget's record.
	Phase declaration.Phase `json:"phase"`
	// The deletion that is in progress, if any.
	Deletion *record.Deletion `json:"deletion,omitempty"`
	// The declared window or period.
	Window string `json:"window,omitempty"`
	declaration.LastRuns
	// Untrusted is the warning that the status is too old or of an earlier declaration; zero if it is
	// current.
	Untrusted reason.Reason `json:"-"`
	// Superseded says that the usage is that of an earlier declaration.
	Superseded bool `json:"-"`
	// Selector is the declared one; nil if the declaration is unreadable.
	Selector *budget.Selector `json:"-"`
	*Why
}

// Why is everything that decisions about a budget depend on. Only `gpupool explain` has these
// fields.
type Why struct {
	// The arguments of the enforcement.
	Declared Declared `json:"declared"`
	// The alert thresholds.
	Thresholds []Threshold `json:"thresholds"`
	// The decisions that a run would make now. Absent if the cluster could not be observed.
	Decisions []outcome.Result `json:"decisions,omitzero"`
	// Changes to expect, with their times. Absent if the usage could not be measured.
	Next []Step `json:"next,omitzero"`
}

// Describe reads the status of every budget that was read. It reads the store only; gpupool usage
// measures the present usage. On request it adds why.
func (r *Run) Describe(ctx context.Context, why bool) []Description {
	list := []Description{}
	for _, broken := range r.Reports() {
		list = append(list, Description{Report: broken})
		if why {
			list[len(list)-1].Why = &Why{}
		}
	}
	statuses, _, lost, unlisted := r.kind.flow.Repository.BudgetStatuses(ctx)
	granted, err := readGrants(ctx, r.kind.flow.Repository) // after the statuses, as LimitedAt wants it
	if lost != nil {
		r.kind.warnings.Warn(reason.DocumentFailed(reason.Failure(lost)))
	}
	for _, t := range r.Targets() {
		d := t.Record.Declaration.WithDefaults()
		status := statuses[d.Name]
		status.Err = cmp.Or(unlisted, status.Err)
		of := r.kind.describe(d, t.Record.Phase, status, granted, err)
		of.Deletion = record.NewDeletion(t.Record.Phase, t.Record.UpdatedAt, reason.DeletionLifts())
		if why {
			of.explain(d, r.kind.flow.now())
		}
		list = append(list, of)
	}
	slices.SortFunc(list, func(a, b Description) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func (k *kind) describe(d budget.Declaration, phase declaration.Phase, status record.ListedStatus, granted grants, unread error) Description {
	s := Description{Phase: phase, Window: d.Window, Selector: &d.Selector}
	if d.Period != "" {
		s.Window = string(d.Period)
	}
	unread = cmp.Or(unread, granted[d.UID].Err)
	switch {
	case status.Err != nil:
		s.Report = unjudgedReport(d, granted.limit(d, k.flow.now()), loop.Ending{Became: outcome.Failed, Why: status.Err})
	case status.Value.UID != d.UID:
		s.Report = unjudgedReport(d, granted.limit(d, k.flow.now()), loop.Ending{Became: outcome.Skipped})
	default:
		limited, ended := status.Value.LimitedAt(granted.of(d), k.flow.now())
		s.Report = newReport(d, limited, loop.Ending{Became: outcome.Done})
		s.Superseded = status.Value.Terms != d.Terms()
		if err := declaration.Trust(declaration.Budget{Phase: phase, Declaration: d}, status.Value, k.flow.now()); err != nil {
			s.Untrusted = untrusted(err)
			s.Warnings = append(s.Warnings, s.Untrusted)
		}
		if unread == nil {
			s.Warnings = append(s.Warnings, endedGrants(ended, k.flow.now())...)
		}
	}
	s.Grants = granted.of(d).InForce(k.flow.now())
	if unread != nil {
		why := reason.DocumentFailed(reason.Failure(unread))
		if s.Untrusted.IsZero() {
			s.Untrusted = why
		}
		s.Warnings = append(s.Warnings, why)
	}
	return s
}

// endedGrants returns warnings of grants that ended since the last run judged by them.
func endedGrants(ended []budget.Grant, now time.Time) (list reason.Reasons) {
	for _, g := range ended {
		hours := reason.Amount(g.GPUHours)
		if g.InForce(now) {
			list = append(list, reason.GrantReleased(hours))
		} else {
			list = append(list, reason.GrantExpired(hours, reason.Instant{Time: g.Until.UTC()}))
		}
	}
	return list
}

// untrusted returns why a status is not trusted.
func untrusted(err error) reason.Reason {
	if why := reason.Of(err); !why.IsZero() {
		return why
	}
	return reason.DocumentFailed(reason.Failure(err))
}

// For returns the budget as a reader of it may see it. Usage of an earlier declaration may count pods of other namespaces.
func (e Description) For(reader reason.Renderer) Description {
	e.Report = e.Report.For(reader)
	e.LastRuns, e.Deletion = e.LastRuns.For(reader), e.Deletion.For(reader)
	if e.Superseded && !reader.Whole() {
		e.Observed, e.UsageReport, e.Effects, e.Paused, e.PausedLeftOut = false, nil, nil, nil, 0
	}
	if e.Why != nil {
		why := *e.Why
		why.Decisions, why.Next = slices.Clone(why.Decisions), reason.Each(why.Next, reader)
		for n, r := range why.Decisions {
			if d, of := r.Decision.(budget.Decision); of {
				why.Decisions[n].Decision, why.Decisions[n].Error = d.For(reader), r.Error.For(reader)
			}
		}
		e.Why = &why
	}
	return e
}
