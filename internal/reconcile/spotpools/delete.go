package spotpools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// deletion is the end of a pool.
type deletion struct{ *Flow }

// Delete destroys a pool: it writes the tombstone, terminates the instances or takes
// their tags off, waits until an observation under the pool's lock shows none, and
// removes the record. The record's declaration decides, not that of the state. A deletion
// that was killed is finished by the next one, or by a run.
func (f *Flow) Delete(ctx context.Context, d spotpool.Declaration, wait time.Duration) error {
	defer f.report(ctx)
	deadline := time.Now().Add(wait)
	gone := false
	err := f.retry(ctx, deadline, func(ctx context.Context) error {
		return f.records().Locked(ctx, d, func(ctx context.Context) error {
			r, err := deletion{f}.beginDeletion(ctx, d)
			if gone = !r.Exists(); !gone {
				d = r.Value.Declaration
			}
			return err
		})
	})
	if err != nil || gone {
		return err
	}
	_, err = deletion{f}.emptyAndRemove(ctx, d, deadline, true)
	return err
}

// retry repeats something until it succeeds, fails for good, or the deadline comes.
func (f *Flow) retry(ctx context.Context, deadline time.Time, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	for pause := f.pollInterval(); ; pause = min(pause*5/4, 10*f.pollInterval()) {
		err := do(ctx)
		if err == nil || !worthRetrying(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// refuseUnseen refuses to destroy a pool whose nodes can't be drained, as their cluster
// can't be reached.
func (x deletion) refuseUnseen(ctx context.Context, d spotpool.Declaration, j journal.Journal) error {
	if d.Nodes == nil {
		return x.refuseCordoned(ctx, d, j)
	}
	if len(j.Known)+len(j.Tokens.Unexpired(x.now())) == 0 {
		return nil
	}
	_, err := x.clusterOf(ctx, d)
	if err == nil {
		_, err = x.observeCluster(ctx, actMaxAge, false)
	}
	if err != nil {
		return undrained(d, err)
	}
	return nil
}

// undrained says that the nodes of a pool that is destroyed can't be drained.
func undrained(d spotpool.Declaration, err error) error {
	return fmt.Errorf("the nodes of %s can't be drained, and nothing of it is ended: %w. Where the cluster is gone for good, take nodes out of the pool's "+
		"configuration, apply, and destroy it then", d.Object(), err)
}

func (x deletion) refuseProtected(ctx context.Context, d spotpool.Declaration, j journal.Journal) error {
	observation, err := x.observePool(ctx, d, j, nil)
	if err != nil {
		return err
	}
	var protected []string
	for _, i := range j.Listed(d, observation) {
		if why := i.Protection(); why != "" {
			protected = append(protected, fmt.Sprintf("%s (by %s)", i.ID, why))
		}
	}
	if len(protected) > 0 {
		return fmt.Errorf("%s can't be destroyed, since some of its instances are protected: %s. Lift the protection, or set on_destroy = \"retain\" "+
			"and apply first", d.Object(), strings.Join(protected, ", "))
	}
	return nil
}

// emptyAndRemove ends what a pool whose deletion was begun still has, and removes its
// record and journal. It returns what became of its decisions. The error says what is
// left, or why it could not observe. A person who insists has asked for again what the
// cloud refused before.
func (x deletion) emptyAndRemove(ctx context.Context, d spotpool.Declaration, deadline time.Time, insists bool) ([]outcome.Result, error) {
	p := &pass{
		flow: x.Flow, declaration: emptied(d), destroys: true, gate: spotpool.Gate{Closed: true, Reason: "the pool is destroyed"},
		soFar: decide.SoFar{Insists: insists, Destroys: insists},
	}
	err := x.retry(ctx, deadline, func(ctx context.Context) error {
		return x.records().Locked(ctx, d, func(ctx context.Context) error { return x.emptyOnce(ctx, d, p) })
	})
	if err != nil && context.Cause(ctx) != nil {
		err = errors.Join(err, context.Cause(ctx))
	}
	if err == nil {
		return p.results, nil
	}
	var there *stillThereError
	if p.latest != nil && !errors.As(err, &there) { // the last observation failed, and an earlier one succeeded
		if left := p.latest.left(); len(left) > 0 {
			err = &stillThereError{left: left, failure: err}
		}
	}
	return p.results, fmt.Errorf("%s is not destroyed yet: %w. Run terraform destroy again, or gpupool reconcile", d.Object(), err)
}

// emptied is the declaration of a pool that is to have no instances. One whose
// instances are detached has a maximum that ends none of them.
func emptied(d spotpool.Declaration) spotpool.Declaration {
	d.Minimum, d.Maximum, d.OnDemandBase, d.OnDemandFallback, d.SurplusAfter = 0, 0, 0, nil, new(spotpool.Duration)
	d.Budget = ""          // what ends has no gate to tell of
	d.BootstrapToken = nil // nothing of it is to join
	d.Refresh = spotpool.Refresh{Strategy: spotpool.RefreshNone}
	if d.OnDestroy == spotpool.DestroyRetain {
		d.Maximum = spotpool.MaxPoolSize
	}
	return d
}

// stillThereError says what is left of a pool that is being destroyed.
type stillThereError struct {
	left    []string
	failure error // why it could not be ended; nil where that only takes time
	waits   bool  // some of it may end by itself, or be ended later
	unknown bool  // a launch has no definite outcome yet
}

func (e *stillThereError) Error() string {
	text := fmt.Sprintf("%d left (%s)", len(e.left), strings.Join(e.left, ", "))
	if e.failure != nil {
		text += ": " + e.failure.Error()
	}
	return text
}

func (e *stillThereError) Unwrap() error { return e.failure }

// again reports whether a later observation may find that what is left ended, or can be
// ended.
func (e *stillThereError) again() bool {
	if e.failure == nil || errors.Is(e.failure, errNotYet) {
		return e.waits
	}
	return e.unknown || worthRetrying(e.failure)
}

// emptyOnce observes a pool that is being deleted, under its lock, and ends or untags
// its instances. Where the observation shows none, it removes the pool's record and
// journal.
func (x deletion) emptyOnce(ctx context.Context, d spotpool.Declaration, p *pass) error {
	// Another process may have finished the deletion while nobody held the lock: no journal
	// is written again.
	r, err := x.records().Still(ctx, d, declaration.Deleting)
	if err != nil || r == nil {
		return err
	}
	x.records().NoteDeletion(&x.outbox, *r)
	x.report(ctx)
	if err := x.refuseHeld(ctx, d); err != nil {
		return err
	}
	if err := x.records().WriteTombstone(ctx, d, x.now()); err != nil { // a kill may have come before it
		return err
	}
	p.failure, p.uncertain = nil, false
	if err := p.act(ctx); err != nil {
		return err
	}
	if p.nodes.err != nil && d.Nodes != nil && (len(p.latest.plan.Members)+len(p.latest.plan.TokensLeft) > 0 || p.latest.plan.Journal.WereNodes()) {
		return undrained(d, p.nodes.err)
	}
	if p.failure != nil && len(p.latest.plan.StillCordoned) > 0 {
		return p.failure
	}
	if d.OnDestroy == spotpool.DestroyRetain {
		if err := x.detach(ctx, d, p); err != nil {
			return err
		}
	}
	if left := p.latest.left(); len(left) > 0 {
		failure := p.failure
		if outcome.AnyPlanned(p.results) {
			failure = outcome.ErrPlanned
		}
		return &stillThereError{left: left, failure: failure, waits: p.latest.waits(), unknown: p.uncertain}
	}
	return x.clear(ctx, d, p.latest)
}

// reportLast reports what a journal that is about to be removed has to report, and that the
// pool was destroyed.
func (x deletion) reportLast(ctx context.Context, d spotpool.Declaration, j journal.Journal) error {
	tombstone, err := x.Repository.Tombstone(ctx, d.UID)
	if err != nil {
		return err
	}
	at := tombstone.Value.DestroyedAt
	if at.IsZero() {
		at = x.now()
	}
	destroyed := history.About{At: at, Object: d.Object(), ObjectUID: d.UID}.Declaration(history.Destroy)
	x.outbox.Note(j.Unreported...)
	x.note(destroyed)
	x.report(ctx)
	return nil
}

// clear removes the journal and the record of a pool after an observation, under the lock
// that is still held, has shown that nothing is left. The tombstone stays.
func (x deletion) clear(ctx context.Context, d spotpool.Declaration, seen *poolObservation) error {
	if seen == nil || len(seen.left()) > 0 {
		return fmt.Errorf("%s was not seen empty, and its record stays", d.Object())
	}
	j, err := x.loadJournal(ctx, d)
	if err != nil {
		return err
	}
	if j.Exists() {
		if err := x.reportLast(ctx, d, j.Value); err != nil {
			return err
		}
		if err := record.Remove(ctx, x.Repository.Store, store.Journals, journalName(d), j.Revision); err != nil {
			return err
		}
	}
	holds, err := record.Holds(x.Repository).Of(ctx, d.UID)
	if err != nil {
		return err
	}
	x.reportHoldsOf(ctx, d, declaration.Holds{Holds: holds.Holds}, x.now())
	if err := record.Holds(x.Repository).Forget(ctx, d.UID); err != nil {
		return err
	}
	r, err := x.records().Still(ctx, d, declaration.Deleting)
	if err != nil || r == nil {
		return err
	}
	return x.records().Remove(ctx, *r)
}
