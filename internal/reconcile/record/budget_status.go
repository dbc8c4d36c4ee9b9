package record

import (
	"context"
	"errors"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// BudgetStatusName is the name of the document that holds a budget's status.
func BudgetStatusName(name string) string { return "budgets/" + name }

// BudgetStatus reads what the last run made of a budget: the document in which
// budgets and spot pools meet. The status of an earlier budget of the same name does
// not count as known.
func (k Keeper) BudgetStatus(ctx context.Context, d budget.Declaration) (status Document[declaration.BudgetStatus], known bool, err error) {
	status, err = Load[declaration.BudgetStatus](ctx, k.Store, store.Statuses, BudgetStatusName(d.Name))
	return status, status.Exists() && status.Value.UID == d.UID, err
}

// NamedBudget is the record of the budget that a pool names. The error is *UndeclaredError
// if there is none.
func (k Keeper) NamedBudget(ctx context.Context, name string) (Stored[budget.Declaration], error) {
	r, err := Budgets(k).Find(ctx, name)
	var absent *AbsentError
	if errors.As(err, &absent) {
		err = &UndeclaredError{Absent: absent}
	}
	return r, err
}
