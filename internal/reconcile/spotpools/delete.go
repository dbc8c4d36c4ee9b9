package spotpools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// deletion deletes a pool.
type deletion struct{ *Flow }

// Delete destroys a pool. It writes the tombstone, terminates the instances or removes their
// tags, and waits until an observation under the pool's lock shows none. Then it removes the
// record. The record's declaration decides, not the state's. The next destroy or run resumes a
// deletion that was killed. The warnings name what the pool leaves behind.
func (f *Flow) Delete(ctx context.Context, d spotpool.Declaration, wait time.Duration) (warnings reason.Reasons, err error) {
	defer f.report(ctx)
	deadline := time.Now().Add(wait)
	gone := false
	err = f.retry(ctx, deadline, func(ctx context.Context) error {
		return f.records().Locked(ctx, d, func(ctx context.Context) error {
			r, err := deletion{f}.beginDeletion(ctx, d)
			if gone = !r.Exists(); !gone {
				d = r.Value.Declaration
			}
			return err
		})
	})
	if err != nil || gone {
		return nil, err
	}
	p, err := deletion{f}.terminateAndRemove(ctx, d, deadline, true)
	return p.leftovers(), err
}

// retry calls do until it succeeds, fails for good, or the deadline passes.
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

// refuseUnreachable refuses to destroy a pool whose nodes cannot be drained, since their cluster
// is unreachable.
func (x deletion) refuseUnreachable(ctx context.Context, d spotpool.Declaration, j journal.Journal) error {
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
		return errNotDrained(d, err)
	}
	return nil
}

// errNotDrained says that the nodes of a pool that is destroyed cannot be drained.
func errNotDrained(d spotpool.Declaration, err error) error {
	return fmt.Errorf("the nodes of %s cannot be drained, so nothing is terminated: %w. If the cluster is gone for good, remove nodes from the "+
		"pool's configuration, apply, and destroy it then", d.Object(), err)
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
		return fmt.Errorf("%s cannot be destroyed, since some of its instances are protected: %s. Lift the protection, or set on_destroy = \"retain\" "+
			"and apply first", d.Object(), strings.Join(protected, ", "))
	}
	return nil
}

// terminateAndRemove terminates or detaches what a pool whose deletion was begun still has, and
// removes its record and journal. The error says what is left, or why it could not
// observe. If a person insists, terminations that Tencent Cloud refused are retried.
func (x deletion) terminateAndRemove(ctx context.Context, d spotpool.Declaration, deadline time.Time, insists bool) (*pass, error) {
	p := &pass{
		flow: x.Flow, declaration: withoutInstances(d), destroys: true, gate: spotpool.Gate{Closed: true, Reason: reason.PoolDestroyed()},
		soFar: decide.SoFar{Insists: insists, Destroys: insists},
	}
	err := x.retry(ctx, deadline, func(ctx context.Context) error {
		return x.records().Locked(ctx, d, func(ctx context.Context) error { return x.emptyPool(ctx, d, p) })
	})
	if err != nil && context.Cause(ctx) != nil {
		err = &endedError{error: err, cause: context.Cause(ctx)}
	}
	if err == nil {
		return p, nil
	}
	var there *remainingError
	if p.latest != nil && !errors.As(err, &there) { // only an earlier observation succeeded
		if left := p.latest.left(); len(left) > 0 {
			err = &remainingError{left: left, failure: err}
		}
	}
	return p, fmt.Errorf("%s is not destroyed yet: %w. Run terraform destroy again, or gpupool reconcile", d.Object(), err)
}

// endedError is an error after the end of its context, which it does not print.
type endedError struct {
	error
	cause error
}

// Unwrap returns the error, and why its context ended.
func (e *endedError) Unwrap() []error { return []error{e.error, e.cause} }

// leftovers warns of what a deletion leaves in the cluster.
func (p *pass) leftovers() reason.Reasons {
	warnings := slices.Clone(p.warnings)
	if p.latest != nil && p.declaration.OnDestroy != spotpool.DestroyRetain { // else the marks were removed
		for _, n := range p.latest.plan.NodesInUse {
			warnings = append(warnings, n.Reason())
		}
	}
	return warnings
}

// withoutInstances returns the declaration of a pool without instances. If they are detached,
// its maximum terminates none of them.
func withoutInstances(d spotpool.Declaration) spotpool.Declaration {
	d.Minimum, d.Maximum, d.OnDemandBase, d.OnDemandFallback, d.SurplusAfter = 0, 0, 0, nil, new(spotpool.Duration)
	d.Budget, d.BootstrapToken, d.Currency = "", nil, "" // no price counts
	d.Refresh = spotpool.Refresh{Strategy: spotpool.RefreshNone}
	if d.OnDestroy == spotpool.DestroyRetain {
		d.Maximum = spotpool.MaxPoolSize
	}
	return d
}

// remainingError describes the rest of a pool that is being destroyed.
type remainingError struct {
	left    []string
	failure error // why it could not be terminated; nil if that only takes time
	waits   bool  // some of it may disappear by itself, or can be terminated later
	unknown bool  // a launch has no definite outcome yet
}

func (e *remainingError) Error() string {
	text := fmt.Sprintf("%d left (%s)", len(e.left), strings.Join(e.left, ", "))
	if e.failure != nil {
		text += ": " + e.failure.Error()
	}
	return text
}

func (e *remainingError) Unwrap() error { return e.failure }

// retryable reports whether a later observation may show less, or more that can be terminated.
func (e *remainingError) retryable() bool {
	if e.failure == nil || errors.Is(e.failure, errNotYet) {
		return e.waits
	}
	return e.unknown || worthRetrying(e.failure)
}

// emptyPool observes a pool that is being deleted, under its lock, and terminates or untags its
// instances. If there are none, it removes the pool's record and journal.
func (x deletion) emptyPool(ctx context.Context, d spotpool.Declaration, p *pass) error {
	// Another process may have completed the deletion while the lock was free: then no journal
	// is written.
	r, err := x.records().Still(ctx, d, declaration.Deleting)
	if err != nil || r == nil {
		return err
	}
	x.records().NoteDeletion(&x.outbox, *r)
	x.report(ctx)
	if err := x.refuseOnHold(ctx, d); err != nil {
		return err
	}
	if err := x.records().WriteTombstone(ctx, d, x.now()); err != nil { // a kill may have prevented it
		return err
	}
	p.failure, p.uncertain = nil, false
	if err := p.act(ctx); err != nil {
		return err
	}
	if p.nodes.err != nil && d.Nodes != nil && (len(p.latest.plan.Members)+len(p.latest.plan.TokensLeft) > 0 || p.latest.plan.Journal.AnyFormerNode()) {
		return errNotDrained(d, p.nodes.err)
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
		p.reportWaiting(ctx, left)
		failure := p.failure
		if outcome.AnyPlanned(p.results) {
			failure = outcome.ErrPlanned
		}
		return &remainingError{left: left, failure: failure, waits: p.latest.waits(), unknown: p.uncertain}
	}
	return x.clear(ctx, d, p.latest)
}

// reportWaiting reports what a deletion waits for, each time that it changes.
func (p *pass) reportWaiting(ctx context.Context, left []string) {
	text := "waiting for " + wording.Some(left)
	if text == p.waiting {
		return
	}
	p.waiting = text
	p.flow.Reporter.Logger().LogAttrs(ctx, slog.LevelInfo, "pool is being destroyed", outcome.About(p.declaration.Object()), slog.String("detail", text))
	p.flow.Reporter.Report(p.declaration.Object(), text, p.latest.size())
}

// reportLast reports the events of a journal that is about to be removed, and that the pool was
// destroyed.
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

// clear removes the journal and the record of a pool that was observed empty under the same
// lock. The tombstone stays.
func (x deletion) clear(ctx context.Context, d spotpool.Declaration, seen *poolObservation) error {
	if seen == nil || len(seen.left()) > 0 {
		return fmt.Errorf("%s was not observed empty, and its record stays", d.Object())
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
	x.reportPoolHolds(ctx, d, declaration.Holds{Holds: holds.Holds}, x.now())
	if err := record.Holds(x.Repository).Forget(ctx, d.UID); err != nil {
		return err
	}
	r, err := x.records().Still(ctx, d, declaration.Deleting)
	if err != nil || r == nil {
		return err
	}
	return x.records().Remove(ctx, *r)
}
