package record

import (
	"context"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// StockDeployments returns the UIDs of the Deployments of stock pools, with the names of the
// pools. Budgets do not pause these, since the pools respect budgets on their own. Only records
// count, not labels of a Deployment. A pool that is being created or deleted, or has no record,
// exempts nothing.
func (k Repository) StockDeployments(ctx context.Context) (map[string]string, error) {
	// List journals before records: then each journal has its record in the list.
	docs, err := k.Store.List(ctx, store.StockJournals)
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	records, err := StockPools(k).List(ctx)
	if err != nil {
		return nil, err
	}
	active, unread := map[string]bool{}, map[string]bool{}
	for _, r := range records {
		switch {
		case r.Err != nil:
			unread[r.Key] = true
		case r.Record.Phase == declaration.Active:
			active[r.Record.Declaration.UID] = true
		}
	}
	own := make(map[string]string, len(docs))
	for _, doc := range docs {
		uid := doc.Key.Name
		j, err := DecodeListed[declaration.StockJournal](ctx, k.Store, doc)
		switch {
		case err != nil && !active[uid] && len(unread) == 0: // of no pool that keeps anything
		case err != nil:
			// Any Deployment may be the one that it names: to pause one would be a guess,
			// which ends pods, and to wait ends none.
			return nil, err
		case j.DeploymentUID == "":
		case active[uid], unread[poolKey(j)]:
			// A pool with an unreadable record still exempts its Deployment. Its runs fail
			// until an operator repairs it, and then finds the pods there.
			own[j.DeploymentUID] = j.Object
		}
	}
	return own, nil
}

func poolKey(j stockpool.Journal) string {
	_, key, _ := strings.Cut(j.Object, "/")
	return key
}
