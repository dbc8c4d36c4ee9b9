package spotpools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// saveStatuses writes the statuses of the pools that the run reconciled. A failure is a warning.
func (k *kind) saveStatuses(ctx context.Context, works []*work) {
	statuses, deleted := map[string]declaration.PoolStatus{}, map[string]bool{}
	for _, w := range works {
		uid := w.target.declaration.UID
		if deleted[uid] = w.deleted; w.status != nil {
			statuses[uid] = *w.status
		}
	}
	gone := func(uid string) bool { return deleted[uid] }
	if len(k.options.Names) == 0 && !slices.ContainsFunc(k.run.Listed(), unread) {
		gone = func(uid string) bool { return deleted[uid] || !k.run.Recorded(uid) }
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	if err := k.flow.Repository.SavePoolStatuses(ctx, statuses, gone); err != nil {
		k.warnings.Warn(reason.StatusesUnsaved(reason.Failure(err)))
	}
}

// poolStatus returns the status of a pool after its work; nil if it was skipped or deleted.
func (w *work) poolStatus(d spotpool.Declaration, r Report, results []outcome.Result) *declaration.PoolStatus {
	if r.Outcome == outcome.Skipped || w.deleted {
		return nil
	}
	s := declaration.PoolStatus{Pool: d.Key(), Generation: d.Generation}
	if r.Counts != nil {
		s.Observed, s.Capacity, s.Total, s.Shortfall = true, r.Capacity, r.Total, r.Shortfall
	}
	s.Grows, s.Why = r.growth(planned(results), w.unobserved(results))
	return &s
}

// planned returns how many instances the next run launches.
func planned(results []outcome.Result) (launches int) {
	for _, r := range results {
		if of, ok := r.Decision.(spotpool.Decision); ok && r.Outcome == outcome.Planned && of.Kind == spotpool.KindLaunch {
			launches += of.Count
		}
	}
	return launches
}

// unobserved returns how many launched instances are not in the pool's last observation yet.
func (w *work) unobserved(results []outcome.Result) (n int) {
	var observed []decide.Member
	switch {
	case w.pass != nil && w.pass.latest != nil:
		observed, n = w.pass.latest.plan.Members, w.pass.latest.plan.Journal.Missing()
	case w.seen != nil:
		observed, n = w.seen.Members, w.seen.Journal.Missing()
	}
	for _, id := range launched(results) {
		if !slices.ContainsFunc(observed, func(m decide.Member) bool { return m.ID == id }) {
			n++
		}
	}
	return n
}

// growth says whether more nodes of a pool are coming, and which, or else why not. It returns
// first what an operator has to do first.
func (p Report) growth(launches, unobserved int) (grows bool, why string) {
	joining := 0
	if n := p.Nodes; n != nil && n.NodeStates != nil {
		joining = n.Joining
	}
	switch {
	case p.Outcome == outcome.Failed && p.Error != nil:
		return false, p.Error.Message
	case p.Hold != nil:
		return false, fmt.Sprintf("it is on hold %s", p.Hold)
	case p.Counts == nil:
		return false, "it could not be observed"
	case p.Wanted != nil && p.Gate != nil:
		return false, fmt.Sprintf("budget/%s is exceeded and drains it", p.Gate.Budget)
	case launches > 0:
		return true, fmt.Sprintf("the next run launches %d", launches)
	case unobserved > 0:
		return true, fmt.Sprintf("just launched: %d", unobserved)
	case joining > 0:
		return true, fmt.Sprintf("of its %s, joining: %d", wording.Count(p.Nodes.All(), "node"), joining)
	case p.Gate != nil && p.Gate.Closed:
		return false, p.Gate.Reason.String()
	case p.Nodes != nil && !p.Nodes.ReplacingSuspended.IsZero():
		return false, "replacing its nodes is suspended: " + p.Nodes.ReplacingSuspended.String()
	case p.Shortfall > 0 && len(p.Short) > 0:
		return false, strings.Join(p.Short, "; ")
	case p.Total >= p.Maximum && p.Minimum == p.Maximum:
		return false, fmt.Sprintf("it has its maximum of %d. Raise minimum and maximum", p.Maximum)
	case p.Total >= p.Maximum:
		return false, fmt.Sprintf("it has its maximum of %d", p.Maximum)
	case p.Capacity > p.Minimum:
		return false, fmt.Sprintf("it has %d, and launches none above its minimum of %d. Raise minimum above %d", p.Capacity, p.Minimum, p.Capacity)
	case p.Capacity == p.Minimum:
		return false, fmt.Sprintf("it has its minimum of %d, the number that gpupool keeps. Raise minimum", p.Minimum)
	}
	return false, fmt.Sprintf("it has %d of its minimum %d", p.Capacity, p.Minimum)
}
