package stockpools

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// Report is how a stock pool is at the end of the run.
type Report struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	UID       string `json:"uid,omitempty"`
	SpecName  string `json:"spec_name,omitempty"`
	// Observed is false where the pool could not be observed; its numbers are then 0 and
	// mean nothing.
	Observed bool `json:"observed"`
	decide.Status
	// Deleted says that the run finished the pool's deletion.
	Deleted  bool                 `json:"deleted,omitempty"`
	Outcome  outcome.Outcome      `json:"outcome"`
	Notices  []string             `json:"notices,omitempty"`
	Warnings []string             `json:"warnings,omitempty"`
	Error    *outcome.ErrorReport `json:"error,omitempty"`
}

// Summary is what became of the pool.
func (p Report) Summary() outcome.Summary {
	return outcome.Summary{Kind: "stock_pool", Name: p.Namespace + "/" + p.Name, Outcome: p.Outcome, Error: p.Error, Deleted: p.Deleted}
}

// PlanDeletion shows a deletion that was finished on a draft as a planned one.
func (p *Report) PlanDeletion() {
	if p.Deleted {
		p.Deleted, p.Outcome, p.Notices, p.Error = false, outcome.Planned, nil, outcome.NewErrorReport(outcome.ErrDeletionPlanned)
	}
}

func newReport(d stockpool.Declaration, p decide.Plan, e loop.Ending) Report {
	return Report{
		Name: d.Name, Namespace: d.Namespace, UID: d.UID, SpecName: d.SpecName, Observed: p.Status.Phase != "", Status: p.Status,
		Outcome: e.Became, Warnings: p.Warnings, Error: outcome.NewErrorReport(e.Why),
	}
}
