package reconcile

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/notifications"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// StatusReport is the state of all objects, or of the named ones.
type StatusReport struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// When the objects were observed.
	At time.Time `json:"at"`
	// The location of the store. Empty for a reader of a part of it.
	Store string `json:"store"`
	// The summary of the last run. Null if the store has none.
	LastRun *declaration.RunSummary `json:"last_run"`
	// The error of the last runs if they failed as a whole, before they reached any object.
	Failing *declaration.Failing `json:"failing,omitempty"`
	// The process that runs `gpupool reconcile` now, if its lock shows one.
	UnderWay *store.Holder `json:"run_under_way,omitempty"`
	// The process that ran `gpupool reconcile` last and was killed.
	Killed *store.Holder `json:"run_killed,omitempty"`
	// Why the store cannot be written, such as a full disk. Present only if runs are overdue.
	Unwritable string `json:"store_unwritable,omitempty"`
	// Present if the next run is overdue.
	Overdue *declaration.Overdue `json:"overdue,omitempty"`
	// The reasons about runs: one is in progress, was killed or is overdue.
	Runs reason.Reasons `json:"runs,omitempty"`
	// The totals of everything below.
	Totals Totals `json:"totals"`
	// The spot pools, as observed now.
	SpotPools []spotpools.Description `json:"spot_pools"`
	// The budgets, as the last run measured them.
	Budgets []budgets.Description `json:"budgets"`
	// The stock pools, as observed now.
	StockPools []stockpools.Description `json:"stock_pools"`
	// The notifications and their deliveries.
	Notifications []notifications.Description `json:"notifications,omitempty"`
	// Warnings that concern all objects.
	Warnings reason.Reasons `json:"warnings"`
	// LastRunLost says that there is a summary of the last run, and that it can't be read.
	LastRunLost bool `json:"-"`
	// Orphans is how many objects have documents and no record; the warnings name them.
	Orphans int `json:"-"`
	// LastDay is how all went over the last day.
	LastDay declaration.LastDay `json:"-"`

	host string // of this process
}

// For returns the state of the objects that a reader may see, and of the last run when it was and how it ended.
func (r StatusReport) For(reader reason.Renderer) StatusReport {
	if reader.Whole() {
		return r
	}
	seen := StatusReport{SchemaVersion: r.SchemaVersion, At: r.At, Overdue: r.Overdue, LastDay: r.LastDay.For(reader), Warnings: reason.Reasons{}}
	if last := r.LastRun; last != nil {
		seen.LastRun = &declaration.RunSummary{RunID: last.RunID, StartedAt: last.StartedAt, FinishedAt: last.FinishedAt, SucceededAt: last.SucceededAt}
	}
	seen.SpotPools, seen.Budgets, seen.StockPools = visible(r.SpotPools, reader), visible(r.Budgets, reader), visible(r.StockPools, reader)
	seen.Complete()
	return seen
}

// described is an object of a report.
type described[D any] interface {
	Summary() outcome.Summary
	For(reader reason.Renderer) D
}

// visible returns the objects that a reader may see, as they may see them.
func visible[D described[D]](list []D, reader reason.Renderer) []D {
	return reason.Each(slices.DeleteFunc(slices.Clone(list), func(of D) bool {
		return !reader.SeesObject(reason.Object(of.Summary().Object()))
	}), reader)
}

// Status observes all that is declared, or what is named of it, without any lock,
// and decides without acting. The error is *declaration.UnknownNameError where a
// name fits nothing.
func (r *Runner) Status(ctx context.Context, names ...string) (StatusReport, error) {
	return r.status(ctx, "", names...)
}

// StatusOf is Status of the objects of one kind, such as "budget". The others are not observed.
func (r *Runner) StatusOf(ctx context.Context, kind string) (StatusReport, error) {
	return r.status(ctx, kind)
}

func (r *Runner) status(ctx context.Context, only string, names ...string) (StatusReport, error) {
	one := r.begin(RunOptions{Names: names})
	report, err := one.describe(ctx, only, false)
	if err != nil {
		return report, err
	}
	if len(names) == 0 && only == "" {
		report.Orphans = one.warnOrphans(ctx)
		list, err := r.world.Notifications().Describe(ctx)
		if err != nil {
			one.warnings.Warn(reason.NotificationsUnknown(reason.Failure(err)))
		}
		report.Notifications = list
		if report.LastRun != nil {
			for _, text := range report.LastRun.Leftovers {
				one.warnings.Warn(reason.AsOfLastRun(reason.NewForeign(text)))
			}
		}
	}
	report.Complete()
	report.Warnings = one.warnings.List()
	return report, nil
}

// describe describes the objects of one kind, or of all, and the last run. With why, it adds what decisions depend on.
func (r *run) describe(ctx context.Context, only string, why bool) (StatusReport, error) {
	w := r.runner.world
	report := StatusReport{
		SchemaVersion: ReportSchemaVersion, At: w.Now().UTC(), Store: w.Store.String(),
		SpotPools: []spotpools.Description{}, Budgets: []budgets.Description{}, StockPools: []stockpools.Description{},
	}
	if err := r.read(ctx); err != nil {
		return report, err
	}
	for _, k := range r.kinds {
		if only == "" || only == k.name {
			k.describe(ctx, &report, why)
		}
	}
	if why && len(report.Budgets) > 0 && w.Cluster != nil {
		if err := w.judgeNow(ctx, report.Budgets); err != nil {
			return report, err
		}
	}
	if err := report.addLastRun(ctx, w.Store); err != nil {
		report.LastRunLost = true
		r.warnings.Warn(lostSummary(err))
	}
	return report, nil
}

// Complete sets the states and the totals of the described objects, and what there is to say of runs.
func (r *StatusReport) Complete() {
	for n := range r.SpotPools {
		r.SpotPools[n].SetState()
	}
	for n := range r.Budgets {
		r.Budgets[n].SetState()
	}
	for n := range r.StockPools {
		r.StockPools[n].SetState()
	}
	r.Totals, r.Runs = r.totals(), r.runs()
}

// addLastRun adds what the store has about the last runs, and about one in progress. The error
// is that their summary is unreadable.
func (r *StatusReport) addLastRun(ctx context.Context, from store.Store) error {
	if day, err := record.Load[declaration.LastDay](ctx, from, store.Statuses, lastDay); err == nil {
		r.LastDay = day.Value
	}
	if holder, err := from.Holder(ctx, runLock); err == nil && holder != nil {
		if holder.Gone {
			r.Killed = holder
			r.host, _ = os.Hostname() // else the other one is named
		} else {
			r.UnderWay = holder
		}
	}
	last, err := record.Load[declaration.RunSummary](ctx, from, store.Statuses, lastRun)
	if err != nil || !last.Exists() {
		return err
	}
	if ended := last.Value.FinishedAt; ended.After(r.At) {
		r.At = ended.UTC() // a run ended during this observation
	}
	summary := last.Value.WithFailing()
	r.LastRun = &summary
	r.Failing = summary.Failing.Of(history.Run)
	if r.UnderWay == nil {
		r.Overdue = summary.Overdue(r.At)
	}
	if probed, can := from.(store.Probed); can && r.Overdue != nil {
		if err := probed.Unwritable(); err != nil {
			r.Unwritable = err.Error()
		}
	}
	for n := range r.Budgets {
		r.Budgets[n].LastRuns = summary.LastRuns(r.Budgets[n].Summary().Object())
	}
	for n := range r.SpotPools {
		r.SpotPools[n].LastRuns = summary.LastRuns(r.SpotPools[n].Summary().Object())
	}
	for n := range r.StockPools {
		r.StockPools[n].LastRuns = summary.LastRuns(r.StockPools[n].Summary().Object())
	}
	return nil
}
