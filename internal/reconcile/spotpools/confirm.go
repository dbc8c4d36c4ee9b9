package spotpools

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// confirm looks once at everything that was launched in the region. It notes the
// instances that are listed already: a later run that misses one of them then knows
// that it was reclaimed. The others will be looked for again.
func (r *Run) confirm(ctx context.Context, region string, targets []target) {
	launched := map[string][]string{}
	var ids []string
	r.mu.Lock()
	for _, d := range r.results {
		if p, ok := d.Decision.(spotpool.Decision); ok && p.Kind == spotpool.KindLaunch && d.Outcome == outcome.Done {
			launched[p.Object] = append(launched[p.Object], p.InstanceIDs...)
		}
	}
	r.mu.Unlock()
	for _, t := range targets {
		ids = append(ids, launched[t.declaration.Object()]...)
	}
	if len(ids) == 0 {
		return
	}
	found, _, err := r.flow.Cloud.ObserveInstances(ctx, region, ids)
	if err != nil {
		r.flow.Teller.Logger().WarnContext(ctx, "launches not seen", "region", region, "detail", err.Error())
		return
	}
	shown := make([]string, len(found))
	for n, i := range found {
		shown[n] = i.ID
	}
	for _, t := range targets {
		if launched[t.declaration.Object()] == nil {
			continue
		}
		j, err := r.flow.loadJournal(ctx, t.declaration)
		if err == nil {
			err = r.flow.keepJournal(ctx, t.declaration, j, j.Value.Listed(shown))
		}
		if err != nil {
			r.warnings.Add(err.Error())
		}
	}
}
