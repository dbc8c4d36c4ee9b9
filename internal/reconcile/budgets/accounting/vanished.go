package accounting

import (
	"context"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// killLasts is how long the end of a pod may take after the Event that reports its beginning. It is the
// default grace period of pods (DefaultTerminationGracePeriodSeconds in k8s.io/api/core/v1).
const killLasts = 30 * time.Second

// unannounced checks pods that a list lacks though a complete replay had no deletion of them, and returns
// when they certainly existed. A further replay has those that were deleted between the replay and the list.
// Others were never deleted in this history: the cluster was restored from a backup.
func (b *Books) unannounced(ctx context.Context, there func(string) bool, present, ended map[string]bool) (ledger.Time, error) {
	l, o := b.documents.ledger, b.Observation
	h := l.Header
	if !o.Replay.Complete || len(l.Vanished(there)) == 0 && len(b.deletedBindings(there)) == 0 {
		return h.LastRun, nil
	}
	further, err := b.cluster.Observe(ctx, gpu.ObserveOptions{
		From: o.ResourceVersion, Rules: b.Rules, Nodes: slices.Concat(recordedNodes(l), o.Nodes, o.Replay.Nodes),
	})
	if err != nil {
		return 0, err
	}
	b.enterDeleted(further.Replay, present, ended)
	missing := l.Vanished(func(uid string) bool { return there(uid) || ended[uid] })
	if !further.Replay.Complete || len(missing) == 0 || h.LastListed == 0 {
		return h.LastRun, nil
	}
	l.AddGap(ledger.Gap{
		From: h.LastListed, To: ledger.TimeOf(o.At), GPUs: o.Allocatable,
		Reason: "pods are gone whose deletion the server's history does not have: the cluster was restored from a backup",
	})
	return min(h.LastListed, h.LastRun), nil
}

// closeVanished closes the records of pods that are gone without an end of their
// own.
func (b *Books) closeVanished(ctx context.Context, there func(string) bool, pools instanceRecords, heldAt ledger.Time) error {
	events, err := b.endsByEvents(ctx, b.documents.ledger.Vanished(there), pools, heldAt)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		b.Warnings = append(b.Warnings, reason.EndsEstimated(reason.Failure(err)))
	}
	b.documents.ledger.CloseVanished(there, func(r *ledger.Record) ledger.End {
		if end := pools.end(r, heldAt); !end.Open() {
			return end
		}
		if at, known := events[r.UID]; known {
			until := at.Add(killLasts)
			if due := r.Deletion.Time(); due.After(at) {
				until = due // which includes the grace period
			}
			return ledger.End{Earliest: ledger.TimeOf(at), At: ledger.TimeOf(until), Source: ledger.Event}
		}
		return ledger.End{}
	}, heldAt, ledger.TimeOf(b.Now()))
	return nil
}

// endsByEvents asks the cluster's Events when pods ended of which nothing better
// is known.
func (b *Books) endsByEvents(ctx context.Context, vanished []ledger.Record, pools instanceRecords, heldAt ledger.Time) (map[string]time.Time, error) {
	var refs []budget.PodRef
	for _, r := range vanished {
		if pools.end(&r, heldAt).Open() {
			refs = append(refs, budget.PodRef{Namespace: r.Set.Namespace, Name: r.Name, UID: r.UID})
		}
	}
	if len(refs) == 0 {
		return nil, nil
	}
	return b.cluster.PodEvents(ctx, refs)
}

// refine puts what the pools learned since in the place of estimates.
func (b *Books) refine(pools instanceRecords) {
	if len(pools.ended)+len(pools.noticed) == 0 {
		return
	}
	var refined []ledger.Record
	for r := range b.documents.ledger.All() {
		if r.End.Source != ledger.Estimated || !r.End.Estimated() {
			continue
		}
		end := pools.end(r, r.End.Earliest)
		if end.At < r.End.Earliest || end.At >= r.End.At {
			continue
		}
		end.Earliest = max(end.Earliest, r.End.Earliest)
		r.End = end
		refined = append(refined, *r)
	}
	for _, r := range refined {
		if err := b.documents.ledger.Merge(r); err != nil {
			b.doubts.add(r.Set.Namespace, reason.RecordError(reason.Failure(err)))
		}
	}
}
