package spotpools

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// confirm observes the instances that were launched in the region, and records which are
// listed: if one is missing later, it was lost.
func (r *region) confirm(ctx context.Context) {
	var ids []string
	for _, w := range r.works {
		ids = append(ids, w.launched...)
	}
	if len(ids) == 0 {
		return
	}
	found, _, err := r.flow.Cloud.ObserveInstances(ctx, r.name, ids)
	if err != nil {
		r.flow.Reporter.Logger().WarnContext(ctx, "launches not observed", "region", r.name, "detail", err.Error())
		return
	}
	shown := make([]string, len(found))
	for n, i := range found {
		shown[n] = i.ID
	}
	for _, w := range r.works {
		if len(w.launched) == 0 {
			continue
		}
		d := w.target.declaration
		j, err := r.flow.loadJournal(ctx, d)
		if err == nil {
			value := j.Value
			value.Fleet = value.MarkListed(shown)
			err = r.flow.keepJournal(ctx, d, j, value)
		}
		if err != nil {
			r.warnings.Warn(reason.Explain(err))
		}
	}
}

// launched returns the instances of accepted launches.
func launched(results []outcome.Result) (ids []string) {
	for _, r := range results {
		if of, ok := r.Decision.(spotpool.Decision); ok && of.Kind == spotpool.KindLaunch && r.Outcome == outcome.Done {
			ids = append(ids, of.InstanceIDs...)
		}
	}
	return ids
}
