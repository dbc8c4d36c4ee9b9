package record

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// StockDeployments are the uids of the Deployments that stock pools own, with the names
// of the pools: budgets don't pause these, since the pools heed budgets by themselves.
// What is recorded counts, and nothing that a Deployment says of itself.
func (k Keeper) StockDeployments(ctx context.Context) (map[string]string, error) {
	docs, err := k.Store.List(ctx, store.StockJournals)
	if err != nil {
		return nil, err
	}
	own := make(map[string]string, len(docs))
	for _, doc := range docs {
		j, err := DecodeListed[declaration.StockJournal](ctx, k.Store, doc)
		if err != nil {
			return nil, err
		}
		if j.DeploymentUID != "" {
			own[j.DeploymentUID] = j.Object
		}
	}
	return own, nil
}
