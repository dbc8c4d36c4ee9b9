package stockpools

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// limits are the budgets of a store, and what is known of their use.
type limits struct {
	budgets []limit
	// made are the statuses that a run has made, by the budget's name, which are
	// preferred to those in the store.
	made map[string]budget.Status
	flow *Flow
	mu   sync.Mutex
	// read are those that were read of the store.
	read map[string]readStatus
}

type readStatus struct {
	status budget.Status
	err    error
}

// limit is one budget, made ready to be asked for many pools.
type limit struct {
	record.Listed[budget.Declaration]
	declaration budget.Declaration
	takes       *budget.Matcher // nil where it can take nothing
}

// limits reads the store's budgets.
func (f *Flow) limits(ctx context.Context, made map[string]budget.Status) (*limits, error) {
	list, err := record.Budgets(f.Keeper).List(ctx)
	l := &limits{budgets: make([]limit, len(list)), made: made, read: map[string]readStatus{}, flow: f}
	for n, listed := range list {
		of := limit{Listed: listed, declaration: listed.Record.Declaration.WithDefaults()}
		if listed.Err == nil {
			of.takes, of.Err = of.declaration.Selector.Matcher()
		}
		l.budgets[n] = of
	}
	return l, err
}

// covers says whether a budget counts pods with these labels now.
func (l limit) covers(d stockpool.Declaration, set *ledger.LabelSet) bool {
	return l.Err == nil && d.GPU > 0 && l.declaration.ClusterUID == d.ClusterUID && l.Record.Phase == declaration.Active && l.takes.Matches(set)
}

// covers are the budgets that a pool heeds: those that cover its pods, as far as they
// hold GPUs, and the one that it names.
func (l *limits) covers(ctx context.Context, d stockpool.Declaration, namespaceLabels map[string]string, now time.Time) []stockpool.Cover {
	set := labelSet(d, namespaceLabels)
	var covers []stockpool.Cover
	named := d.Budget == ""
	for _, of := range l.budgets {
		names := of.Key == d.Budget
		named = named || names
		switch {
		case of.Err != nil && names:
			covers = append(covers, unknown(of.Key, of.Err))
		case names, of.covers(d, set):
			covers = append(covers, l.cover(ctx, of.declaration, of.Record, set, now))
		}
	}
	if !named {
		covers = append(covers, unknown(d.Budget, fmt.Errorf("the store %s has no such budget", l.flow.Keeper.Store)))
	}
	return covers
}

// labelSet is what a pool's pods are told apart by.
func labelSet(d stockpool.Declaration, namespaceLabels map[string]string) *ledger.LabelSet {
	return &ledger.LabelSet{Namespace: d.Namespace, Labels: ledger.LabelsOf(d.PodLabels()), NamespaceLabels: ledger.LabelsOf(namespaceLabels)}
}

func unknown(name string, err error) stockpool.Cover {
	return stockpool.Cover{Budget: name, Unknown: true, Reason: fmt.Sprintf("what its budget %s has used is unknown: %v", name, err)}
}

func (l *limits) cover(ctx context.Context, of budget.Declaration, r declaration.Budget, set *ledger.LabelSet, now time.Time) stockpool.Cover {
	status, err := l.status(ctx, of)
	if err == nil {
		err = declaration.Trust(r, status, now)
	}
	if err != nil {
		return unknown(of.Name, err)
	}
	c := stockpool.Cover{Budget: of.Name, Exceeded: status.Usage.Exceeded()}
	if !c.Exceeded {
		return c
	}
	c.Pauses = of.Stops(status, set, l.flow.Keeper.Store.Location().Namespace, now)
	c.Reason = fmt.Sprintf("its budget %s is used up: %s of %s GPU-hours", of.Name, budget.Hours(status.Usage.Consumed), budget.Hours(status.Usage.Limit))
	return c
}

func (l *limits) status(ctx context.Context, of budget.Declaration) (budget.Status, error) {
	if made, ok := l.made[of.Name]; ok {
		return made, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.read[of.Name]
	if !ok {
		doc, there, err := l.flow.Keeper.BudgetStatus(ctx, of)
		if err == nil && !there {
			err = fmt.Errorf("it has no status in the store %s yet, which gpupool reconcile makes", l.flow.Keeper.Store)
		}
		known = readStatus{status: doc.Value.LimitedAt(l.flow.now()), err: err}
		l.read[of.Name] = known
	}
	return known.status, known.err
}

// NotCoveredError says that a pool names a budget that does not take its pods.
type NotCoveredError struct{ Pool, Budget, Why string }

// Error says which, and what to do.
func (e *NotCoveredError) Error() string {
	return fmt.Sprintf("the stock pool %s names the budget %s, %s. Give its pods labels that the budget selects, or leave budget out", e.Pool, e.Budget, e.Why)
}

// refuseBudget says why the budget that a pool names can't be its own; nil where it can
// be, or where the store does not know it yet.
func (l *limits) refuseBudget(d stockpool.Declaration, namespaceLabels map[string]string) error {
	for _, of := range l.budgets {
		switch {
		case of.Key != d.Budget || of.Err != nil:
		case of.declaration.ClusterUID != d.ClusterUID:
			return &NotCoveredError{d.Key(), d.Budget, "which is of another cluster"}
		case !of.takes.Matches(labelSet(d, namespaceLabels)):
			return &NotCoveredError{d.Key(), d.Budget, "whose selector does not take its pods"}
		}
	}
	return nil
}
