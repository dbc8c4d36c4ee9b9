package stockpools

import (
	"context"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
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
		cover.Reason = reason.UsedUpNotPaused(cover.Reason, reason.ProtectionUnknown(reason.Failure(err)))
	case n > 0:
		cover.Reason = reason.UsedUpNotPaused(cover.Reason, reason.PodsProtected(reason.Count(n), protected))
	default:
		return cover
	}
	cover.Pauses = false
	return cover
}

// protected returns the pods that the budget's enforcement exempts, each with the reason.
func (l *limits) protected(ctx context.Context, p *pass, d budget.Declaration) (list reason.Some, err error) {
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
		if !why.IsZero() {
			list = append(list, reason.ProtectedPod(reason.Word(pod.Name), why))
		}
	}
	slices.SortFunc(list, func(a, b reason.Reason) int { return strings.Compare(a.String(), b.String()) })
	return list, nil
}
