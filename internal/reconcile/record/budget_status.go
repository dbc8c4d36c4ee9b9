package record

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// BudgetStatusName is the name of the document that holds a budget's status.
func BudgetStatusName(name string) string { return "budgets/" + name }

// BudgetStatus reads the status of a budget, by which budgets and spot pools meet, with its
// last measurement. The status of an earlier budget of the same name does not count as known.
// If measurements are unreadable, the status is that of the last run that changed it, with its
// time.
func (k Repository) BudgetStatus(ctx context.Context, d budget.Declaration) (status Document[declaration.BudgetStatus], known bool, err error) {
	status, err = Load[declaration.BudgetStatus](ctx, k.Store, store.Statuses, BudgetStatusName(d.Name))
	if known = status.Exists() && status.Value.UID == d.UID; known && err == nil {
		usage, _ := k.Usage.read(ctx, k)
		status.Value = status.Value.Measured(usage.Value.Budgets[d.UID])
	}
	return status, known, err
}

// LimitedStatus is BudgetStatus with the limit of now. Grants are read only if the status
// counts some; if they can't be read, its limit is unknown.
func (k Repository) LimitedStatus(ctx context.Context, d budget.Declaration, now time.Time) (status budget.Status, known bool, err error) {
	doc, known, err := k.BudgetStatus(ctx, d)
	status = doc.Value
	if err != nil || !known || len(status.Grants) == 0 {
		return status, known, err
	}
	granted, err := Grants(k).Of(ctx, d.UID)
	status, _ = status.LimitedAt(granted.Grants, now)
	return status, known, err
}

// ListedStatus is one of the statuses of all budgets, or why it can't be read.
type ListedStatus struct {
	Document[declaration.BudgetStatus]
	Err error
}

// BudgetStatuses returns the statuses of all budgets by name, and the document of their last
// measurements. If only that document is unreadable, lost is the reason.
func (k Repository) BudgetStatuses(ctx context.Context) (statuses map[string]ListedStatus, usage Document[declaration.BudgetUsage], lost, err error) {
	docs, err := k.Store.List(ctx, store.Statuses)
	if err != nil {
		return nil, usage, nil, err
	}
	statuses = map[string]ListedStatus{}
	for _, doc := range docs {
		name, ours := strings.CutPrefix(doc.Key.Name, BudgetStatusName(""))
		switch {
		case ours:
			value, err := DecodeListed[declaration.BudgetStatus](ctx, k.Store, doc)
			statuses[name] = ListedStatus{Document[declaration.BudgetStatus]{Value: value, Revision: doc.Revision}, err}
		case doc.Key.Name == budgetUsage:
			usage, lost = k.Usage.decode(ctx, k, doc)
		}
	}
	for name, s := range statuses {
		if s.Err == nil {
			s.Value = s.Value.Measured(usage.Value.Budgets[s.Value.UID])
			statuses[name] = s
		}
	}
	return statuses, usage, lost, nil
}

// NamedBudget is the record of the budget that a pool names. The error is *UndeclaredError
// if there is none.
func (k Repository) NamedBudget(ctx context.Context, name string) (Stored[budget.Declaration], error) {
	r, err := Budgets(k).Find(ctx, name)
	var absent *AbsentError
	if errors.As(err, &absent) {
		err = &UndeclaredError{Absent: absent}
	}
	return r, err
}
