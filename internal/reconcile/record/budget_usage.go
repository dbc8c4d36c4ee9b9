package record

import (
	"context"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// budgetUsage is the name of the document with the last measurements of all budgets.
const budgetUsage = "budget_usage"

// SaveBudgetUsage writes the last measurements of budgets in the place of those that were
// read.
func (k Repository) SaveBudgetUsage(ctx context.Context, old Document[declaration.BudgetUsage], usage declaration.BudgetUsage) error {
	saved, err := Save(ctx, k.Store, store.Statuses, budgetUsage, old, usage)
	if err == nil && k.Usage != nil {
		k.Usage.note(saved)
	}
	return err
}

// UsageReader caches the last measurements of budgets for readers at nearly the same time, such
// as the refreshes of a plan. The document is as large as there are budgets. A nil reader reads
// it each time.
type UsageReader struct {
	mu   sync.Mutex
	at   time.Time
	last Document[declaration.BudgetUsage]
}

// usageAge is for how long what was read is as good as read again.
const usageAge = time.Second

func (r *UsageReader) read(ctx context.Context, k Repository) (Document[declaration.BudgetUsage], error) {
	if r == nil {
		return Load[declaration.BudgetUsage](ctx, k.Store, store.Statuses, budgetUsage)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.at.IsZero() && time.Since(r.at) < usageAge {
		return r.last, nil
	}
	usage, err := Load[declaration.BudgetUsage](ctx, k.Store, store.Statuses, budgetUsage)
	if err == nil {
		r.last, r.at = usage, time.Now()
	}
	return usage, err
}

// decode returns the measurements of a listed document. Those that were read or saved last are not decoded
// again.
func (r *UsageReader) decode(ctx context.Context, k Repository, doc store.Document) (Document[declaration.BudgetUsage], error) {
	if r != nil {
		r.mu.Lock()
		last := r.last
		r.mu.Unlock()
		if last.Revision == doc.Revision {
			return last, nil
		}
	}
	value, err := DecodeListed[declaration.BudgetUsage](ctx, k.Store, doc)
	return Document[declaration.BudgetUsage]{Value: value, Revision: doc.Revision}, err
}

func (r *UsageReader) note(saved Document[declaration.BudgetUsage]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last, r.at = saved, time.Now()
}
