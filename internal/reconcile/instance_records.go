package reconcile

import (
	"context"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// instanceRecords are what the spot pools' journals know of instances.
type instanceRecords struct {
	names map[string]string      // the pool's "region/name", by instance id
	ended map[string]ledger.Time // when an instance's end was asked for
}

// instanceRecords reads the spot pools' journals. One that can't be read is left
// to its own pool: without it a node's pool is unknown, which changes no amount.
func (e *Engine) instanceRecords(ctx context.Context) (instanceRecords, error) {
	records := instanceRecords{names: map[string]string{}, ended: map[string]ledger.Time{}}
	if e.Store == nil {
		return records, nil
	}
	docs, err := e.Store.List(ctx, store.Journals)
	if err != nil {
		return records, err
	}
	for _, doc := range docs {
		j, err := declaration.Decode[spotpool.Journal](documentName(e.Store, doc.Key), doc.Data)
		end := strings.LastIndexByte(doc.Key.Name, '/') // "region/name/uid"
		if err != nil || end < 0 {
			continue
		}
		for _, k := range j.Known {
			records.names[k.InstanceID] = doc.Key.Name[:end]
		}
		for _, past := range j.Past {
			records.names[past.InstanceID] = doc.Key.Name[:end]
			records.ended[past.InstanceID] = milli(past.EndedAt)
		}
	}
	return records, nil
}
