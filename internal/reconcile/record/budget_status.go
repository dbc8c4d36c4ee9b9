package record

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// BudgetStatusName is what the status of a budget is kept under.
func BudgetStatusName(name string) string { return "budgets/" + name }

// BudgetStatus reads what the last run made of a budget: the document in which
// budgets and spot pools meet. That of an earlier budget of the same name is not
// known.
func (k Keeper) BudgetStatus(ctx context.Context, d budget.Declaration) (status Document[declaration.BudgetStatus], known bool, err error) {
	status, err = Load[declaration.BudgetStatus](ctx, k.Store, store.Statuses, BudgetStatusName(d.Name))
	return status, status.Exists() && status.Value.UID == d.UID, err
}
