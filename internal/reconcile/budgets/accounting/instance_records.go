package accounting

import (
	"context"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// instanceRecords are the instances in the journals of the spot pools.
type instanceRecords struct {
	names map[string]string      // the pool's "region/name", by instance id
	ended map[string]ledger.Time // when an instance's end was asked for
	// noticed is when an instance was found terminated or terminating though the pool did not terminate it:
	// it may have been untagged, and still run.
	noticed map[string]ledger.Time
}

// goneLasts is the longest time that pods exist after their instance is gone. The node controller and the
// garbage collector of pods take a minute or two.
const goneLasts = ledger.Time(10 * time.Minute / time.Millisecond)

// end is what the pools know of the end of a pod's instance, if the last run observed the pod holding GPUs at
// a moment. The zero End is nothing.
func (i instanceRecords) end(r *ledger.Record, heldAt ledger.Time) ledger.End {
	id := r.Place.InstanceID
	if at, known := i.ended[id]; known {
		return ledger.ExactEnd(at, ledger.InstanceEnded)
	}
	if at, known := i.noticed[id]; known && at > r.Start.At && at+goneLasts >= heldAt {
		return ledger.End{Earliest: r.Start.At, At: at, Source: ledger.InstanceEnded}
	}
	return ledger.End{}
}

// add reads a journal's times of one instance.
func (i instanceRecords) add(pool, id string, ended, noticed time.Time) {
	i.names[id] = pool
	switch {
	case !ended.IsZero():
		i.ended[id] = ledger.TimeOf(ended)
	case !noticed.IsZero():
		i.noticed[id] = ledger.TimeOf(noticed)
	}
}

// instanceRecords reads the spot pools' journals. One that can't be read is left
// to its own pool: without it a node's pool is unknown, which changes no amount.
func (a Accountant) instanceRecords(ctx context.Context) (instanceRecords, error) {
	records := instanceRecords{names: map[string]string{}, ended: map[string]ledger.Time{}, noticed: map[string]ledger.Time{}}
	if a.Repository.Store == nil {
		return records, nil
	}
	docs, err := a.Repository.Store.List(ctx, store.Journals)
	if err != nil {
		return records, err
	}
	for _, doc := range docs {
		j, err := record.DecodeListed[journal.Journal](ctx, a.Repository.Store, doc)
		end := strings.LastIndexByte(doc.Key.Name, '/') // "region/name/uid"
		if err != nil || end < 0 {
			continue
		}
		for _, k := range j.Known {
			records.add(doc.Key.Name[:end], k.InstanceID, k.EndedAt, k.NoticedAt)
		}
		for _, past := range j.Past {
			records.add(doc.Key.Name[:end], past.InstanceID, past.EndedAt, past.NoticedAt)
		}
	}
	return records, nil
}
