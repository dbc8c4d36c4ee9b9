package budgets

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// Overview is one budget, as the last run judged it.
type Overview struct {
	Report
	Phase declaration.Phase `json:"phase"`
	// Window is the declared window or period.
	Window string `json:"window,omitempty"`
	// LastRunError is what the last run failed with, where it could not judge or
	// enforce the budget; what else is told is then of an earlier one.
	LastRunError string `json:"last_run_error,omitempty"`
	// Failing is what the last runs failed with, and PassedOver why they passed the
	// budget over; absent where the last one did not.
	Failing    *declaration.Failing `json:"failing,omitempty"`
	PassedOver *declaration.Failing `json:"passed_over,omitempty"`
	// Untrusted is why what is told is not to be relied on, one of the warnings: it is
	// too old, or of an earlier declaration; empty where it is.
	Untrusted string `json:"-"`
}

// Overview reads what the last run made of every budget that was read. It asks the
// store alone: what a budget has used this very moment is for gpupool usage to say.
func (r *Run) Overview(ctx context.Context) []Overview {
	list := []Overview{}
	for _, broken := range r.reports {
		list = append(list, Overview{Report: broken})
	}
	granted, err := r.flow.grants(ctx)
	for _, t := range r.targets {
		list = append(list, r.flow.overviewOf(ctx, t, granted, err))
	}
	slices.SortFunc(list, func(a, b Overview) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func (f *Flow) overviewOf(ctx context.Context, t target, granted grants, unread error) Overview {
	d := t.declaration
	s := Overview{Phase: t.phase, Window: d.Window}
	if d.Period != "" {
		s.Window = string(d.Period)
	}
	status, known, err := f.Keeper.BudgetStatus(ctx, d)
	switch {
	case err != nil:
		s.Report = failedReport(d, err)
	case !known:
		s.Report = unjudgedReport(d, outcome.Skipped, nil)
	default:
		s.Report = newReport(d, status.Value, outcome.Done, nil)
		if err := declaration.Trust(declaration.Budget{Phase: t.phase, Declaration: d}, status.Value, f.now()); err != nil {
			s.Untrusted = err.Error()
			s.Warnings = append(s.Warnings, s.Untrusted)
		}
	}
	for _, g := range s.Judged {
		if s.Untrusted == "" && !g.InForce(f.now()) {
			s.Untrusted = fmt.Sprintf("what is told is by a limit that a grant of %s GPU-hours was a part of, and that ended at %s: the next run of "+
				"gpupool reconcile judges it anew", g.GPUHours, g.Until.UTC().Format(time.RFC3339))
			s.Warnings = append(s.Warnings, s.Untrusted)
		}
	}
	s.Grants = granted.of(d).InForce(f.now())
	if err := cmp.Or(unread, granted[d.UID].Err); err != nil {
		s.Untrusted = cmp.Or(s.Untrusted, err.Error())
		s.Warnings = append(s.Warnings, err.Error())
	}
	return s
}
