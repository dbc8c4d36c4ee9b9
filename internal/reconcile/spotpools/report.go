package spotpools

import (
	"cmp"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// Report is a spot pool at the end of a run.
type Report struct {
	// The pool's name.
	Name string `json:"name"`
	// The pool's region.
	Region string `json:"region"`
	// The pool's UID. Absent if its record cannot be read.
	UID string `json:"uid,omitempty"`
	spotpool.Bounds
	// The currency of the pool's prices. Absent if unknown.
	Currency spotpool.Currency `json:"currency,omitempty"`
	// Whether the pool could be observed.
	Observed bool `json:"observed"`
	// Absent if the pool could not be observed.
	*spotpool.Counts
	// Whether the run finished the pool's deletion.
	Deleted bool `json:"deleted,omitempty"`
	// Whether its budget blocks launches. Absent without a budget or an observation.
	Gate *GateReport `json:"gate,omitempty"`
	// The hold in force, if any.
	Hold *spotpool.Hold `json:"hold,omitempty"`
	// The outcome of the pool as a whole. `skipped` if another process has its lock.
	Outcome outcome.Outcome `json:"outcome"`
	// The health of its instances as nodes. Absent for a pool without `nodes`.
	Nodes *decide.PoolNodes `json:"nodes,omitempty"`
	// Why the pool stays below its minimum, in at most three lines.
	Short []string `json:"short,omitempty"`
	// All reasons why the pool stays below its minimum. The binding one is first.
	ShortReasons spotpool.Reasons `json:"short_reasons,omitempty"`
	// Events of its instances.
	Messages reason.Reasons `json:"notices,omitempty"`
	// Warnings, which need attention.
	Warnings reason.Reasons `json:"warnings,omitempty"`
	// The error of a pool that failed.
	Error *outcome.ErrorReport `json:"error,omitempty"`
}

// GateReport says whether a pool's budget blocks its launches.
type GateReport struct {
	// The budget's name.
	Budget string `json:"budget"`
	// Whether the budget blocks launches.
	Closed bool `json:"closed"`
	// Why it blocks launches.
	Reason reason.Reason `json:"reason,omitzero"`
}

func newGateReport(d spotpool.Declaration, p decide.Plan) *GateReport {
	if d.Budget == "" {
		return nil
	}
	return &GateReport{Budget: d.Budget, Closed: p.Gate.Closed, Reason: p.Gate.Reason}
}

// Summary returns the outcome of the pool.
func (p Report) Summary() outcome.Summary {
	return outcome.Summary{Kind: "spot_pool", Name: p.Region + "/" + p.Name, Outcome: p.Outcome, Error: p.Error, Deleted: p.Deleted}
}

// For returns the pool as a reader of it may see it.
func (p Report) For(reader reason.Renderer) Report {
	p.Gate, p.Hold, p.Nodes = p.Gate.For(reader), p.Hold.For(reader), p.Nodes.For(reader)
	p.ShortReasons = reason.Each(p.ShortReasons, reader)
	if !reader.Whole() {
		p.Short = p.ShortReasons.Brief().Texts()
	}
	p.Messages, p.Warnings, p.Error = reader.RedactAll(p.Messages), reader.RedactAll(p.Warnings), p.Error.For(reader)
	return p
}

// For returns the gate as a reader of the pool may see it.
func (g *GateReport) For(reader reason.Renderer) *GateReport {
	if g == nil || reader.SeesObject(reason.Object("budget/"+g.Budget)) {
		return g
	}
	return &GateReport{Closed: g.Closed, Reason: reader.Redact(g.Reason)}
}

// PlanDeletion turns a deletion that was completed on a draft into a planned one.
func (p *Report) PlanDeletion() {
	if p.Deleted {
		p.Deleted, p.Outcome, p.Messages, p.Error = false, outcome.Planned, nil, outcome.NewErrorReport(outcome.ErrDeletionPlanned)
	}
}

// HeldBack returns why the pool's gate is closed, unless the report says it elsewhere; empty if
// the gate is open.
func (p Report) HeldBack() string {
	if p.Gate == nil || p.Gate.Reason.IsZero() {
		return ""
	}
	why := p.Gate.Reason.String()
	if slices.Contains(p.Short, why) || p.Error != nil && p.Error.Message == why {
		return ""
	}
	return why
}

// Cost returns the hourly price of all instances. Its price is 0 if unknown.
func (p Report) Cost() spotpool.Cost {
	of := spotpool.Cost{Currency: p.Currency}
	if p.Counts != nil {
		of.Price = p.HourlyPrice
	}
	return of
}

// newReport reports on a pool by its last plan, which is nil if the pool was not observed.
func newReport(d spotpool.Declaration, p *decide.Plan, e loop.Ending) Report {
	report := Report{
		Name: d.Name, Region: d.Region, UID: d.UID, Bounds: d.Bounds(), Currency: d.Currency, Observed: p != nil, Outcome: e.Became,
		Error: outcome.NewErrorReport(e.Why),
	}
	if p != nil {
		report.Hold, report.Nodes = p.Hold, p.Nodes
		report.Counts, report.Currency, report.Gate = new(p.Counts), cmp.Or(p.Currency, d.Currency), newGateReport(d, *p)
		report.Short, report.ShortReasons = p.Short.Brief().Texts(), p.Short
		report.Messages, report.Warnings = p.Messages, p.Warnings
	}
	return report
}
