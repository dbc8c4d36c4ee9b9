package stockpools

import (
	"context"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// sparing returns the cover without a pause if one of the pods is protected. Any other workload
// with a protected pod is left as it is, too.
func (l *limits) sparing(ctx context.Context, p *pass, of limit, cover decide.Cover) decide.Cover {
	if !cover.Pauses {
		return cover
	}
	protected, err := l.protected(ctx, p, of.declaration)
	switch n := len(protected); {
	case err != nil:
		cover.Reason += fmt.Sprintf("; it is not paused, since whether its pods are protected is unknown: %v", err)
	case n > 0:
		cover.Reason += fmt.Sprintf("; it is not paused, since %d of its pods %s protected: %s", n, wording.Plural(n, "is", "are"), wording.Some(protected))
	default:
		return cover
	}
	cover.Pauses = false
	return cover
}

// protected returns the pods that the budget's enforcement exempts, each with the reason.
func (l *limits) protected(ctx context.Context, p *pass, d budget.Declaration) (list []string, err error) {
	live := slices.DeleteFunc(slices.Clone(p.observation.Pods), stockpool.Pod.Ended)
	var classes map[string]int32
	if d.Enforce.ProtectedPriorityClass != "" && len(live) > 0 {
		if classes, err = l.classes.get(func() (map[string]int32, error) { return p.cluster.PriorityClasses(ctx) }); err != nil {
			return nil, err
		}
	}
	for _, pod := range live {
		why := d.Spares(budget.Pod{
			Pod: gpu.Pod{
				Namespace: p.declaration.Namespace, Name: pod.Name,
				Live: gpu.Live{Annotations: pod.Annotations, PriorityClassName: pod.PriorityClassName, Priority: pod.Priority},
			},
			Set: labelSet(p.declaration, pod.Labels, p.observation.NamespaceLabels),
		}, l.Repository.Store.Location().Namespace, classes)
		if why != "" {
			list = append(list, fmt.Sprintf("%s (%s)", pod.Name, why))
		}
	}
	slices.Sort(list)
	return list, nil
}
