package api

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/page"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/snapshot"
)

// Limits returns the states of budgets that limit pods of a namespace, and that the user may not read. The user may read
// the namespace, whose pods show the effect anyway. The names and numbers are those of others.
func (r *Reader) Limits(ctx context.Context, namespace string) (list [][]state.State, err error) {
	v, err := r.view(ctx)
	if err != nil || v.all {
		return nil, problemOf(ctx, err)
	}
	if sees, err := v.user.Allows(ctx, access.Get, access.Budgets, namespace); err != nil || !sees {
		return nil, problemOf(ctx, err)
	}
	status, err := r.Source.Status(ctx, snapshot.All)
	if err != nil {
		return nil, problemOf(ctx, err)
	}
	for _, b := range status.Budgets {
		if !page.Covers(b, namespace) || !b.IsExceeded() && len(b.Enforcement()) == 0 {
			continue
		}
		sees, err := v.sees(ctx, b.Summary().Object())
		if err != nil {
			return nil, problemOf(ctx, err)
		}
		if !sees {
			list = append(list, b.State)
		}
	}
	return list, nil
}
