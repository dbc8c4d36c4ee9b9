package record

import (
	"context"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// StockDeployments are the uids of the Deployments that stock pools keep, with the names
// of the pools: budgets don't pause these, since the pools heed budgets by themselves.
// What is recorded counts, and nothing that a Deployment says of itself. A pool that is
// not created yet, or is being deleted, or has no record, heeds nothing: its Deployment
// is anybody's.
func (k Repository) StockDeployments(ctx context.Context) (map[string]string, error) {
	// Journals are listed before records: one that is written in between belongs to a
	// record that is seen.
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
			// The pool of a record that can't be read counts as keeping its Deployment: its
			// runs fail until a person looks, who then finds the pods there.
			own[j.DeploymentUID] = j.Object
		}
	}
	return own, nil
}

func poolKey(j stockpool.Journal) string {
	_, key, _ := strings.Cut(j.Object, "/")
	return key
}
