package spotpools

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// Report is a pool's numbers at the end of the run.
type Report struct {
	Name   string `json:"name"`
	Region string `json:"region"`
	UID    string `json:"uid,omitempty"`
	spotpool.Counts
	// Observed is false where the pool could not be observed; its counts are then 0 and
	// mean nothing.
	Observed bool `json:"observed"`
	// Deleted says that the run finished the pool's deletion.
	Deleted bool `json:"deleted,omitempty"`
	// Gate is the pool's gate; nil where it has no budget, or could not be observed.
	Gate *GateReport `json:"gate,omitempty"`
	// Hold is the one in force; nil where there is none.
	Hold    *spotpool.Hold  `json:"hold,omitempty"`
	Outcome outcome.Outcome `json:"outcome"`
	// Nodes says how its instances fare as nodes; nil where it has none, or could not be
	// observed.
	Nodes *decide.PoolNodes `json:"nodes,omitempty"`
	// Short is why it stays below minimum, in at most three lines, and ShortReasons is
	// all of it, offering by offering.
	Short        []string             `json:"short,omitempty"`
	ShortReasons spotpool.Reasons     `json:"short_reasons,omitempty"`
	Messages     []string             `json:"notices,omitempty"`
	Warnings     []string             `json:"warnings,omitempty"`
	Error        *outcome.ErrorReport `json:"error,omitempty"`
}

// GateReport says whether a pool's budget holds its launches back.
type GateReport struct {
	Budget string `json:"budget"`
	Closed bool   `json:"closed"`
	Reason string `json:"reason,omitempty"` // why it is closed
}

func newGateReport(d spotpool.Declaration, p decide.Plan) *GateReport {
	if d.Budget == "" {
		return nil
	}
	return &GateReport{Budget: d.Budget, Closed: p.Gate.Closed, Reason: p.Gate.Reason}
}

// Summary is what became of the pool.
func (p Report) Summary() outcome.Summary {
	return outcome.Summary{Kind: "spot_pool", Name: p.Region + "/" + p.Name, Outcome: p.Outcome, Error: p.Error, Deleted: p.Deleted}
}

// PlanDeletion shows a deletion that was finished on a draft as a planned one.
func (p *Report) PlanDeletion() {
	if p.Deleted {
		p.Deleted, p.Outcome, p.Messages, p.Error = false, outcome.Planned, nil, outcome.NewErrorReport(outcome.ErrDeletionPlanned)
	}
}

// HeldBack is why the pool's gate is closed, unless the report says it elsewhere;
// empty where the gate is open.
func (p Report) HeldBack() string {
	if p.Gate == nil || slices.Contains(p.Short, p.Gate.Reason) || p.Error != nil && p.Error.Message == p.Gate.Reason {
		return ""
	}
	return p.Gate.Reason
}

// newReport reports on a pool by its last plan; nil where the pool could not be
// observed.
func newReport(d spotpool.Declaration, p *decide.Plan, e loop.Ending) Report {
	report := Report{Name: d.Name, Region: d.Region, UID: d.UID, Outcome: e.Became, Error: outcome.NewErrorReport(e.Why)}
	if p != nil {
		report.Hold, report.Nodes = p.Hold, p.Nodes
		report.Counts, report.Observed, report.Gate = p.Counts, true, newGateReport(d, *p)
		report.Short, report.ShortReasons = p.Short.Brief(), p.Short
		report.Messages, report.Warnings = p.Messages, p.Warnings
	}
	report.Counts.Minimum, report.Counts.Maximum = d.Minimum, d.Maximum
	return report
}
