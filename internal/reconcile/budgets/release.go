package budgets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
)

// release lifts the freeze of a budget that is destroyed and resumes what it
// paused. The notices say what was left as someone else has it. Events tell of
// it on what was resumed, and where the last status, if any, has a freeze felt.
func (f *Flow) release(ctx context.Context, c Cluster, d budget.Declaration, last budget.Status) (notices []string, err error) {
	if err := c.Unfreeze(ctx, d.UID); err != nil {
		return nil, err
	}
	var events []budget.Event
	if last.UID == d.UID && slices.Contains(last.Enforced, budget.Freeze) {
		for _, namespace := range toldOf(last.Usage.ByNamespace) {
			event := announcement(d, budget.KindUnfreeze, destroyed)
			event.Namespace = namespace
			events = append(events, event)
		}
	}
	all, err := f.held(ctx)
	if err := cmp.Or(err, all.broken[d.UID]); err != nil {
		return nil, err
	}
	var list []declaration.Pause
	if own := all.of(d.UID); own != nil {
		list = own.all()
	}
	p := pausing{Flow: f, cluster: c, budget: d}
	for some := range slices.Chunk(list, batch) {
		resumed, left, err := p.letGo(ctx, some)
		notices = append(notices, left...)
		for _, w := range resumed {
			events = append(events, announcement(d, budget.KindResume, destroyed).On(w))
		}
		if err != nil {
			return notices, err
		}
	}
	for _, event := range events {
		if err := c.Alert(ctx, event); err != nil {
			return append(notices, fmt.Sprintf("what was undone is not told of by Events in the cluster: %v", err)), nil
		}
	}
	return notices, nil
}

// letGo resumes a batch of what a budget that is destroyed holds. It returns what
// was resumed, and what is to be said of what was left as someone else has it.
func (p pausing) letGo(ctx context.Context, list []declaration.Pause) (resumed []budget.Workload, notices []string, err error) {
	workloads := make([]budget.Workload, len(list))
	for n, hold := range list {
		workloads[n] = hold.Workload
	}
	for n, failed := range p.resume(ctx, workloads) {
		var left *budget.NotPausedError
		switch {
		case errors.As(failed, &left) && left.Released:
			notices = append(notices, left.Error())
		case failed != nil:
			err = cmp.Or(err, failed)
		case list[n].Phase == declaration.Paused:
			resumed = append(resumed, workloads[n])
		}
	}
	return resumed, notices, err
}

// mostTold is in how many namespaces a freeze was told of, and so is its end.
const mostTold = 20

// toldOf are the namespaces that used most.
func toldOf(used map[string]int64) []string {
	names := slices.SortedFunc(maps.Keys(used), func(a, b string) int { return cmp.Or(cmp.Compare(used[b], used[a]), cmp.Compare(a, b)) })
	names = slices.DeleteFunc(names, func(name string) bool { return name == budget.Others })
	return names[:min(len(names), mostTold)]
}

const destroyed = "the budget is destroyed"
