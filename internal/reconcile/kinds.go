package reconcile

import (
	"context"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

type kind interface {
	// Read reads all records of the kind.
	Read(ctx context.Context) error
	// Reconcile brings what was read to what is declared.
	Reconcile(ctx context.Context)
	// Results are what became of the decisions.
	Results() []outcome.Result
}

// listed is a kind, and the place that it has in a Terraform state, a report and a status.
type listed struct {
	kind
	name     string // of its objects: "budget"
	takeOver func(ctx context.Context, state *declaration.TerraformState, older string)
	report   func(to *Report)
	describe func(ctx context.Context, to *StatusReport, why bool)
}

func (r *run) kindsOf(o RunOptions) []listed {
	var pools *spotpools.Run
	var stock *stockpools.Run
	budgets := r.runner.budgets.Run(budgets.Options{
		RunID: r.report.RunID, Names: o.Names, KeepLedger: o.KeepLedger, AcceptLoss: o.AcceptLoss,
		Others: func() bool { return len(pools.Targets())+len(stock.Targets()) > 0 },
	}, r.warnings)
	pools = r.runner.pools.Run(spotpools.Options{RunID: r.report.RunID, Names: o.Names, Wait: o.Wait, WaitTimeout: o.WaitTimeout, Statuses: budgets.Statuses},
		r.warnings)
	stock = r.runner.stock.Run(stockpools.Options{RunID: r.report.RunID, Names: o.Names, Wait: o.Wait, WaitTimeout: o.WaitTimeout, Statuses: budgets.Statuses},
		r.warnings)
	r.pools, r.budgets, r.stock = pools, budgets, stock
	return []listed{
		{
			kind: budgets, name: "budget",
			takeOver: func(ctx context.Context, s *declaration.TerraformState, older string) {
				budgets.TakeOver(ctx, s.Budgets, older)
			},
			report:   func(to *Report) { to.Budgets = budgets.Reports() },
			describe: func(ctx context.Context, to *StatusReport, why bool) { to.Budgets = budgets.Describe(ctx, why) },
		},
		{
			kind: pools, name: "spot_pool",
			takeOver: func(ctx context.Context, s *declaration.TerraformState, older string) {
				pools.TakeOver(ctx, s.Pools, older)
			},
			report:   func(to *Report) { to.SpotPools = pools.Reports() },
			describe: func(ctx context.Context, to *StatusReport, why bool) { to.SpotPools = pools.Describe(ctx, why) },
		},
		{
			kind: stock, name: "stock_pool",
			takeOver: func(ctx context.Context, s *declaration.TerraformState, older string) {
				stock.TakeOver(ctx, s.StockPools, older)
			},
			report:   func(to *Report) { to.StockPools = stock.Reports() },
			describe: func(ctx context.Context, to *StatusReport, why bool) { to.StockPools = stock.Describe(ctx, why) },
		},
	}
}

// Declarations are the summaries of all that the report is about.
func (r Report) Declarations() []outcome.Summary {
	return slices.Concat(summaries(r.Budgets), summaries(r.SpotPools), summaries(r.StockPools))
}

// Declarations are the summaries of all that the status is of.
func (r StatusReport) Declarations() []outcome.Summary {
	return slices.Concat(summaries(r.Budgets), summaries(r.SpotPools), summaries(r.StockPools))
}

func summaries[R interface{ Summary() outcome.Summary }](reports []R) []outcome.Summary {
	list := make([]outcome.Summary, len(reports))
	for n, r := range reports {
		list[n] = r.Summary()
	}
	return list
}

// planned is the report with deletions that were finished on a draft shown as planned
// ones.
func (r Report) planned() Report {
	for n := range r.Budgets {
		r.Budgets[n].PlanDeletion()
	}
	for n := range r.SpotPools {
		r.SpotPools[n].PlanDeletion()
	}
	for n := range r.StockPools {
		r.StockPools[n].PlanDeletion()
	}
	return r
}

// decisions are the readers of the kinds' decisions, by how their objects' names
// begin.
var decisions = map[string]func([]byte) (outcome.Decision, error){
	"budget":     outcome.Reader[budget.Decision](),
	"spot_pool":  outcome.Reader[spotpool.Decision](),
	"stock_pool": outcome.Reader[stockpool.Decision](),
}
