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
	p := pausing{f, c, d}
	doc, err := p.load(ctx)
	if err != nil {
		return nil, err
	}
	for _, hold := range doc.Value.Workloads {
		err := p.resume(ctx, hold.Workload)
		var left *budget.NotPausedError
		switch {
		case errors.As(err, &left) && left.Released:
			notices = append(notices, left.Error())
		case err != nil:
			return notices, err
		case hold.Phase == declaration.Paused:
			events = append(events, announcement(d, budget.KindResume, destroyed).On(hold.Workload))
		}
	}
	for _, event := range events {
		if err := c.Alert(ctx, event); err != nil {
			return append(notices, fmt.Sprintf("what was undone is not told of by Events in the cluster: %v", err)), nil
		}
	}
	return notices, nil
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
