package notifications

import (
	"context"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// NotTakenOver returns a warning for each notification of a Terraform state without a record in the
// store. A run cannot record it, since no state has its address and secret.
func (f *Flow) NotTakenOver(ctx context.Context, list []declaration.StateNotification) []string {
	if len(list) == 0 {
		return nil
	}
	records, err := f.records().List(ctx)
	if err != nil {
		return []string{err.Error()}
	}
	var warnings []string
	for _, s := range list {
		if !slices.ContainsFunc(records, func(r record.Listed[notification.Declaration]) bool { return r.Key == s.Declaration.Key() }) {
			warnings = append(warnings, fmt.Sprintf("%s is left out: the store %s has no record of it; run terraform apply with this store. No "+
				"Terraform state has its address and secret", s.Address, f.Repository.Store))
		}
	}
	return warnings
}
