package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

type (
	budgetRecord = held[declaration.Budget]
	budgetStatus = held[declaration.BudgetStatus]
)

// budgetStatusName is what the status of a budget is kept under.
func budgetStatusName(name string) string { return "budgets/" + name }

func (e *Engine) loadBudget(ctx context.Context, name string) (budgetRecord, error) {
	r, err := load[declaration.Budget](ctx, e.Store, store.Budgets, name)
	if err == nil && r.exists() {
		err = misnamed(name, r.value)
	}
	return r, err
}

// listedBudget is one record of the store, or what is wrong with it.
type listedBudget struct {
	name   string
	record declaration.Budget
	err    error
}

// listBudgets reads every budget's record.
func (e *Engine) listBudgets(ctx context.Context) ([]listedBudget, error) {
	docs, err := e.Store.List(ctx, store.Budgets)
	if err != nil {
		return nil, err
	}
	list := make([]listedBudget, len(docs))
	for n, doc := range docs {
		record, err := decodeListed[declaration.Budget](ctx, e.Store, doc)
		list[n] = listedBudget{name: doc.Key.Name, record: record, err: cmp.Or(err, misnamed(doc.Key.Name, record))}
	}
	return list, nil
}

// misnamed says that a record is of another budget than its name tells.
func misnamed(name string, record declaration.Budget) error {
	if of := record.Declaration.Name; of != name {
		return fmt.Errorf("the record budgets/%s holds the declaration of %s", name, of)
	}
	return nil
}

func (e *Engine) saveBudget(ctx context.Context, r budgetRecord, phase declaration.Phase, d budget.Declaration) (budgetRecord, error) {
	return save(ctx, e.Store, store.Budgets, d.Name, r, declaration.Budget{
		Phase: phase, Declaration: d, UpdatedAt: time.Now().UTC().Truncate(time.Second), UpdatedBy: e.Actor,
	})
}

// loadBudgetStatus reads the status of a budget. That of an earlier budget of
// the same name is none.
func (e *Engine) loadBudgetStatus(ctx context.Context, d budget.Declaration) (budgetStatus, bool, error) {
	s, err := load[declaration.BudgetStatus](ctx, e.Store, store.Statuses, budgetStatusName(d.Name))
	return s, s.exists() && s.value.UID == d.UID, err
}

// previousStatus is what the last run made of a budget.
type previousStatus struct {
	budgetStatus
	err error // *declaration.NewerError, where it is not this program's to replace
}

// previousStatuses reads the statuses of all budgets. A damaged one is told of
// and then replaced: nothing in it is lost that the ledger does not have.
func (r *run) previousStatuses(ctx context.Context) (map[string]previousStatus, error) {
	docs, err := r.Store.List(ctx, store.Statuses)
	if err != nil {
		return nil, err
	}
	statuses := map[string]previousStatus{}
	for _, doc := range docs {
		name, ours := strings.CutPrefix(doc.Key.Name, budgetStatusName(""))
		if !ours {
			continue
		}
		value, err := decodeListed[declaration.BudgetStatus](ctx, r.Store, doc)
		status := previousStatus{budgetStatus: budgetStatus{value: value, revision: doc.Revision}}
		var newer *declaration.NewerError
		switch {
		case errors.As(err, &newer):
			status.err = err
		case err != nil:
			r.warn(err.Error())
		}
		statuses[name] = status
	}
	return statuses, nil
}

// saveBudgetStatus replaces a budget's status, whoever wrote it meanwhile.
func (e *Engine) saveBudgetStatus(ctx context.Context, previous budgetStatus, status budget.Status) error {
	name := budgetStatusName(status.Name)
	for range 3 {
		_, err := save(ctx, e.Store, store.Statuses, name, previous, status)
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
		doc, err := e.Store.Read(ctx, store.Key{Kind: store.Statuses, Name: name})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		previous.revision = doc.Revision
	}
	return fmt.Errorf("the status of the budget %s was written by someone else again and again: nothing of this run's was kept", status.Name)
}

// withBudgetLock runs do while the budget's lock is held.
func (e *Engine) withBudgetLock(ctx context.Context, name string, do func(ctx context.Context) error) error {
	return e.withNamedLock(ctx, "budget/"+name, e.LockTimeout, do)
}

// ClusterError says that a budget belongs to another cluster than the one at
// hand.
type ClusterError struct{ Object, Budget, Cluster string }

// Error says whose the budget is, and what to do.
func (e *ClusterError) Error() string {
	return fmt.Sprintf("%s belongs to the cluster whose namespace kube-system has the uid %s, and the kubeconfig in use reaches the one with %s: nothing was touched. Use the kubeconfig and the context of the first", e.Object, e.Budget, e.Cluster)
}

// BudgetExistsError says that a budget can't be created because it is there.
type BudgetExistsError struct {
	Name string
	What string // "the store … has a record of it"
}

// Error names the budget, what was found, and the import that takes it over.
func (e *BudgetExistsError) Error() string {
	return fmt.Sprintf("the budget %s exists already: %s. To manage it here, import it: terraform import ADDRESS %s. To have another budget, give it another name", e.Name, e.What, e.Name)
}

// errNoCluster says that nothing names a cluster.
var errNoCluster = errors.New("budgets need a Kubernetes cluster, and none is configured")

// cluster returns the cluster at hand, with its identity.
func (e *Engine) cluster(ctx context.Context) (Cluster, string, error) {
	if e.Cluster == nil {
		return nil, "", errNoCluster
	}
	c, err := e.Cluster(ctx)
	if err != nil {
		return nil, "", err
	}
	e.reached.Store(&c)
	uid, err := c.UID(ctx)
	if err == nil && uid == "" {
		err = errors.New("the namespace kube-system has no uid: what answers is no Kubernetes cluster")
	}
	return c, uid, err
}

// clusterOf returns the cluster at hand, if it is the budget's.
func (e *Engine) clusterOf(ctx context.Context, d budget.Declaration) (Cluster, error) {
	c, uid, err := e.cluster(ctx)
	if err != nil {
		return nil, err
	}
	if uid != d.ClusterUID {
		return nil, &ClusterError{Object: d.Object(), Budget: d.ClusterUID, Cluster: uid}
	}
	return c, nil
}
