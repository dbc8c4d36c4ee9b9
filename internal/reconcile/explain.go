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
)

// Explanation is the status of the named objects, with everything that their decisions depend on. Budgets are measured
// now if the cluster can be observed.
type Explanation struct {
	StatusReport
	// Their events of the last day, or since the budget was exceeded.
	Events []history.Event `json:"events"`
}

// For returns the explanation as a reader of its objects may see it. Its events are theirs to select.
func (x Explanation) For(reader reason.Renderer) Explanation {
	return Explanation{x.StatusReport.For(reader), reason.Each(x.Events, reader)}
}

// eventsFor is how far back the events of an explanation go, at least.
const eventsFor = 24 * time.Hour

// Explain observes and decides without any lock, and changes nothing. The error is
// *declaration.UnknownNameError where a name fits nothing.
func (r *Runner) Explain(ctx context.Context, names ...string) (x Explanation, err error) {
	x.Events = []history.Event{}
	one := r.begin(RunOptions{Names: names})
	if x.StatusReport, err = one.describe(ctx, "", true); err != nil {
		return x, err
	}
	x.Complete()
	x.addEvents(ctx, r.world, declaration.Names(names).Fits, one.warnings)
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
