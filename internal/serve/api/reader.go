package api

import (
	"context"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/page"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/snapshot"
)

// Reader reads for the page what the operations read, with the rights of the user of the request.
type Reader struct{ api }

// NewReader returns a reader.
func NewReader(o Options) *Reader {
	o.Source = o.Source.ForPages()
	return &Reader{api{Options: o}}
}

// overviewOf is the key of the overview of a user.
type overviewOf struct{ user *access.User }

// Overview returns the state of all objects that the user may read. Requests share it.
func (r *Reader) Overview(ctx context.Context) (reconcile.StatusReport, error) {
	s, err := r.Source.Shared(ctx, snapshot.All)
	if err != nil {
		return reconcile.StatusReport{}, problemOf(ctx, err)
	}
	v, err := r.view(ctx)
	if err != nil || v.all {
		return s.StatusReport, problemOf(ctx, err)
	}
	report, err := snapshot.Derive(s, overviewOf{v.user}, func(s *snapshot.Status) (reconcile.StatusReport, error) { return visible(ctx, v, s.StatusReport) })
	return report, problemOf(ctx, err)
}

// Explain explains an object.
func (r *Reader) Explain(ctx context.Context, object string) (reconcile.Explanation, error) {
	x, err := r.explain(ctx, object)
	return x, problemOf(ctx, err)
}

// Events returns events.
func (r *Reader) Events(ctx context.Context, q page.EventQuery) (eventlog.Report, error) {
	in := &historyQuestion{Since: q.Since, Limit: q.Limit}
	if q.Name != "" {
		in.Name = []string{q.Name}
	}
	if q.Kind != "" {
		in.Kind = []string{q.Kind}
	}
	report, err := r.events(ctx, in, q.Objects)
	return report, problemOf(ctx, err)
}

// Jobs returns the requests that the user may read, the latest first.
func (r *Reader) Jobs(ctx context.Context) (request.JobList, error) {
	all, unreadable, err := r.Source.Jobs(ctx)
	if err != nil {
		return request.JobList{}, problemOf(ctx, err)
	}
	list, err := r.visibleJobs(ctx, all, unreadable)
	return list, problemOf(ctx, err)
}

// ownersAtMost is the most owners of pods that a page lists.
const ownersAtMost = 20

// BudgetUsage returns the usage of a budget as of the last run.
func (r *Reader) BudgetUsage(ctx context.Context, b budgets.Description) (page.BudgetUsage, error) {
	v, err := r.viewOf(ctx, b.Summary().Object())
	if err != nil {
		return page.BudgetUsage{}, problemOf(ctx, err)
	}
	recorded, err := r.Source.Recorded(ctx, v.user.Name, b.Name, fmt.Sprint(b.UID, b.AsOf, *b.UsageReport.LimitGPUHours))
	if err != nil {
		return page.BudgetUsage{}, problemOf(ctx, err)
	}
	report, err := visible(ctx, v, usage.NewReport(recorded.LiveUsage, usage.Listing{By: usage.ByOwner, Top: ownersAtMost}.WithDefaults()))
	of := page.BudgetUsage{Report: report, Course: recorded.Course, Limit: recorded.Usage.Limit}
	of.Unowned, of.Ended = pods(recorded.LiveUsage)
	return of, problemOf(ctx, err)
}

// pods returns the names of pods without an owner, those with the most usage first, and the pods that ended, the
// latest first.
func pods(of budgets.LiveUsage) (unowned []string, ended []usage.Pod) {
	bare := of
	bare.Pods = slices.DeleteFunc(slices.Clone(of.Pods), func(p budgets.PodUsed) bool { return p.Record.Owner != nil })
	for _, p := range usage.NewReport(bare, usage.Listing{By: usage.ByPod, Sort: usage.SortHours}).Pods {
		unowned = append(unowned, p.Namespace+"/"+p.Name)
	}
	of.Pods = slices.DeleteFunc(slices.Clone(of.Pods), func(p budgets.PodUsed) bool { return p.Active })
	ended = usage.NewReport(of, usage.Listing{By: usage.ByPod}).Pods
	slices.SortStableFunc(ended, func(a, b usage.Pod) int { return b.End.Compare(*a.End) })
	return unowned, ended
}
