package reconcile

import (
	"context"
	"log/slog"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Explanation is the state of the named objects, and everything that their decisions depend on.
type Explanation struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// When the objects were observed.
	At time.Time `json:"at"`
	// The location of the store. Empty for a reader of a part of it.
	Store string `json:"store"`
	// The named spot pools, as observed now.
	SpotPools []spotpools.Description `json:"spot_pools"`
	// The named budgets. They are measured now if the cluster can be observed.
	Budgets []budgets.Description `json:"budgets"`
	// The named stock pools, as observed now.
	StockPools []stockpools.Description `json:"stock_pools"`
	// Their events of the last day, or since the budget was exceeded.
	Events []history.Event `json:"events"`
	// Warnings that concern all objects.
	Warnings reason.Reasons `json:"warnings"`
}

// For returns the explanation as a reader of its objects may see it. Its events are theirs to select.
func (x Explanation) For(reader reason.Renderer) Explanation {
	if reader.Whole() {
		return x
	}
	x.Store, x.Warnings, x.Events = "", reason.Reasons{}, reason.Each(x.Events, reader)
	x.SpotPools, x.Budgets, x.StockPools = visible(x.SpotPools, reader), visible(x.Budgets, reader), visible(x.StockPools, reader)
	return x
}

// eventsFor is how far back the events of an explanation go, at least.
const eventsFor = 24 * time.Hour

// Explain observes and decides without any lock, and changes nothing. The error is
// *declaration.UnknownNameError where a name fits nothing.
func (r *Runner) Explain(ctx context.Context, names ...string) (Explanation, error) {
	w := r.world
	x := Explanation{SchemaVersion: ReportSchemaVersion, At: w.Now().UTC(), Store: w.Store.String(), Events: []history.Event{}}
	one := r.begin(RunOptions{Names: names})
	if err := one.read(ctx); err != nil {
		return x, err
	}
	var described StatusReport
	for _, k := range one.kinds {
		k.describe(ctx, &described, true)
	}
	x.Budgets, x.SpotPools, x.StockPools = described.Budgets, described.SpotPools, described.StockPools
	if len(x.Budgets) > 0 && w.Cluster != nil {
		if err := w.judgeNow(ctx, x.Budgets); err != nil {
			return x, err
		}
	}
	last, err := record.Load[declaration.RunSummary](ctx, w.Store, store.Statuses, lastRun)
	if err != nil {
		one.warnings.Warn(lostSummary(err))
	}
	for n := range x.Budgets {
		b := &x.Budgets[n]
		b.Failing = last.Value.Failing.Of(b.Summary().Object())
	}
	for n := range x.SpotPools {
		p := &x.SpotPools[n]
		p.Failing = last.Value.Failing.Of(p.Summary().Object())
	}
	for n := range x.StockPools {
		p := &x.StockPools[n]
		p.Failing = last.Value.Failing.Of(p.Summary().Object())
	}
	described.Complete()
	x.addEvents(ctx, w, declaration.Names(names).Fits, one.warnings)
	x.Warnings = one.warnings.List()
	return x, nil
}

// judgeNow evaluates budgets from the current cluster, as a dry run does. If that fails, the
// status of the last run is reported.
func (w World) judgeNow(ctx context.Context, list []budgets.Description) error {
	dry := w.Dry()
	dry.Log, dry.Progress = slog.New(slog.DiscardHandler), nil
	r := dry.Runner().begin(RunOptions{DryRun: true})
	if err := r.read(ctx); err != nil {
		return err
	}
	r.budgets.Reconcile(ctx)
	report := r.finished()
	now := map[string]budgets.Report{}
	for _, b := range report.Budgets {
		now[b.Name] = b
	}
	for n := range list {
		b, judged := now[list[n].Name]
		switch {
		case !judged:
		case b.Outcome == outcome.Failed && b.UsageReport == nil && list[n].UsageReport != nil:
			list[n].Warnings = append(list[n].Warnings, reason.StatusOfLastRun(reason.NewForeign(b.Error.Message)))
		default:
			decisions := decisionsOn(report.Decisions, "budget/"+b.Name)
			if b.UsageReport != nil {
				orEmpty(&decisions)
			}
			list[n].Update(b, decisions)
		}
	}
	return nil
}

func decisionsOn(list []outcome.Result, object string) []outcome.Result {
	var found []outcome.Result
	for _, d := range list {
		if d.Object() == object {
			found = append(found, d)
		}
	}
	return found
}

func (x *Explanation) addEvents(ctx context.Context, w World, fits func(object string) bool, warnings *outcome.Warnings) {
	since := x.At.Add(-eventsFor)
	for _, b := range x.Budgets {
		if u := b.UsageReport; u != nil && u.ExceededSince != nil && u.ExceededSince.Before(since) {
			since = *u.ExceededSince
		}
	}
	kept := &eventlog.Log{Store: w.Store, Now: w.Now}
	answer, err := kept.Ask(ctx, history.Query{Of: fits, Since: since})
	if err != nil {
		warnings.Warn(reason.EventsUnknown(reason.Failure(err)))
		return
	}
	x.Events = append(x.Events, answer.Events...)
	warnings.Warn(answer.Lost...)
}
