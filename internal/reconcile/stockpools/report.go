package stockpools

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// Report is a stock pool at the end of a run.
type Report struct {
	// The stock pool's name.
	Name string `json:"name"`
	// The stock pool's namespace.
	Namespace string `json:"namespace"`
	// The stock pool's UID.
	UID string `json:"uid,omitempty"`
	// The declared `spec_name`.
	SpecName string `json:"spec_name,omitempty"`
	// Whether the stock pool could be observed.
	Observed bool `json:"observed"`
	// Absent if the stock pool could not be observed.
	*decide.Status
	// `api` if a job created the stock pool. Absent if Terraform manages it.
	ManagedBy string `json:"managed_by,omitempty"`
	// The requester, if a job created it.
	Owner string `json:"owner,omitempty"`
	// When a run deletes it, if a job created it.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// Whether the run finished the stock pool's deletion.
	Deleted bool `json:"deleted,omitempty"`
	// The outcome of the stock pool as a whole. `short` if pods are not ready.
	Outcome outcome.Outcome `json:"outcome"`
	// Events of its Deployment.
	Notices reason.Reasons `json:"notices,omitempty"`
	// Warnings, which need attention.
	Warnings reason.Reasons `json:"warnings,omitempty"`
	// The error of a stock pool that failed.
	Error *outcome.ErrorReport `json:"error,omitempty"`
}

// Summary is the part of a report that the summary of a run stores.
func (p Report) Summary() outcome.Summary {
	return outcome.Summary{Kind: "stock_pool", Name: p.Namespace + "/" + p.Name, Outcome: p.Outcome, Error: p.Error, Deleted: p.Deleted}
}

// For returns the stock pool as a reader of it may see it.
func (p Report) For(reader reason.Renderer) Report {
	if p.Status != nil {
		status := *p.Status
		status.Conditions = reason.Each(status.Conditions, reader)
		p.Status = &status
	}
	p.Notices, p.Warnings, p.Error = reader.RedactAll(p.Notices), reader.RedactAll(p.Warnings), p.Error.For(reader)
	return p
}

// PlanDeletion shows a deletion that finished on a draft as a planned one.
func (p *Report) PlanDeletion() {
	if p.Deleted {
		p.Deleted, p.Outcome, p.Notices, p.Error = false, outcome.Planned, nil, outcome.NewErrorReport(outcome.ErrDeletionPlanned)
	}
}

// newReport reports on a stock pool by its last plan, which is empty if the stock pool was not observed.
func newReport(d stockpool.Declaration, p decide.Plan, e loop.Ending) Report {
	report := Report{
		Name: d.Name, Namespace: d.Namespace, UID: d.UID, SpecName: d.SpecName, Observed: p.Status.Phase != "",
		ManagedBy: d.ManagedBy, Owner: d.Owner, ExpiresAt: d.ExpiresAt,
		Outcome: e.Became, Warnings: p.Warnings, Error: outcome.NewErrorReport(e.Why),
	}
	if report.Observed {
		report.Status = new(p.Status)
	}
	return report
}
