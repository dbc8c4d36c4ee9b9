package notifications

import (
	"context"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// NotTakenOver returns a warning for each notification of a Terraform state without a record in the
// store. A run cannot record it, since no state has its address and secret.
func (f *Flow) NotTakenOver(ctx context.Context, list []declaration.StateNotification) reason.Reasons {
	if len(list) == 0 {
		return nil
	}
	records, err := f.records().List(ctx)
	if err != nil {
		return reason.Reasons{reason.Explain(err)}
	}
	var warnings reason.Reasons
	for _, s := range list {
		if !slices.ContainsFunc(records, func(r record.Listed[notification.Declaration]) bool { return r.Key == s.Declaration.Key() }) {
			warnings = append(warnings, reason.NotTakenOver(reason.NewForeign(s.Address), reason.NewForeign(f.Repository.Store.String())))
		}
	}
	return warnings
}
