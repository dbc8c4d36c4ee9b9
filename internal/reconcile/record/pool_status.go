package record

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const poolStatusPrefix = "spot_pools/"

// poolStatusName is the name of the document with the status of the spot pool of this uid.
// Sixteen documents have them all: a run reads few, and a change rewrites little.
func poolStatusName(uid string) string {
	return fmt.Sprintf("%s%x", poolStatusPrefix, sha256.Sum256([]byte(uid))[0]>>4)
}

// SavePoolStatuses writes the statuses that changed, by UID, and removes those of deleted
// pools. It is called under the lock of runs.
func (k Repository) SavePoolStatuses(ctx context.Context, statuses map[string]declaration.PoolStatus, gone func(uid string) bool) error {
	stored, err := k.poolStatuses(ctx)
	lost := err
	changed := map[string]bool{}
	for name, shard := range stored {
		for uid := range shard.Value.Pools {
			if gone(uid) {
				delete(shard.Value.Pools, uid)
				changed[name] = true
			}
		}
	}
	for uid, now := range statuses {
		name := poolStatusName(uid)
		shard := stored[name]
		last, known := shard.Value.Pools[uid]
		if now.Since = last.Since; known && now == last {
			continue
		}
		if shard.Value.Pools == nil {
			shard.Value.Pools = map[string]declaration.PoolStatus{}
		}
		now.Since = k.Now()
		shard.Value.Pools[uid] = now
		stored[name], changed[name] = shard, true
	}
	var failed error
	for name := range changed {
		_, err := Save(ctx, k.Store, store.Statuses, name, stored[name], stored[name].Value)
		failed = errors.Join(failed, err)
	}
	return errors.Join(lost, failed)
}

// poolStatuses reads the statuses of all spot pools, by document. Unreadable ones are ignored:
// the next run writes them again.
func (k Repository) poolStatuses(ctx context.Context) (map[string]Document[declaration.PoolStatuses], error) {
	docs, err := k.Store.List(ctx, store.Statuses)
	if err != nil {
		return map[string]Document[declaration.PoolStatuses]{}, err
	}
	var lost error
	stored := map[string]Document[declaration.PoolStatuses]{}
	for _, doc := range docs {
		if !strings.HasPrefix(doc.Key.Name, poolStatusPrefix) {
			continue
		}
		value, err := DecodeListed[declaration.PoolStatuses](ctx, k.Store, doc)
		if err != nil {
			lost, value = errors.Join(lost, err), declaration.PoolStatuses{}
		}
		stored[doc.Key.Name] = Document[declaration.PoolStatuses]{Value: value, Revision: doc.Revision}
	}
	return stored, lost
}

// Rooms returns the active spot pools that have nodes, with why each does not grow. Only a run
// since its declaration changed knows the reason.
func (k Repository) Rooms(ctx context.Context) ([]stockpool.Room, error) {
	records, err := SpotPools(k).List(ctx)
	if err != nil {
		return nil, err
	}
	stored, err := k.poolStatuses(ctx)
	if err != nil && len(stored) == 0 {
		return nil, err
	}
	statuses := map[string]declaration.PoolStatus{}
	for _, shard := range stored {
		maps.Copy(statuses, shard.Value.Pools)
	}
	var rooms []stockpool.Room
	for _, r := range records {
		d := r.Record.Declaration
		if r.Err != nil || d.Nodes == nil || r.Record.Phase != declaration.Active {
			continue
		}
		room := stockpool.Room{Pool: d.Key(), ClusterUID: d.ClusterUID, Labels: d.Nodes.ExpectedLabels}
		for _, o := range d.Offerings {
			room.InstanceTypes = append(room.InstanceTypes, o.InstanceType)
		}
		if s, seen := statuses[d.UID]; seen && s.Observed && s.Generation == d.Generation {
			room.Grows, room.Why = s.Grows, s.Why
		}
		rooms = append(rooms, room)
	}
	return rooms, nil
}
