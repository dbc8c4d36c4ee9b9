package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/draft"
)

func (o *options) run(ctx context.Context, names []string) error {
	o.names = names
	if err := o.validate(); err != nil {
		return err
	}
	if !o.dryRun { // a dry run has nothing to finish
		defer o.session.OnInterrupt(ctx, "finishing current calls; send a second signal to stop at once")()
	}
	started := o.session.Now()
	w, err := o.world(ctx)
	switch {
	case err != nil:
		o.writeMetrics(reconcile.Report{StartedAt: started}, false)
		return err
	case o.every > 0:
		return o.loop().Repeat(ctx, w)
	}
	return o.runOnce(ctx, w.Runner(), o.runOptions())
}

// world prepares a run, without API calls.
func (o *options) world(ctx context.Context) (none reconcile.World, err error) {
	place, err := o.openStore(ctx)
	if err != nil {
		return none, err
	}
	cloud := o.cloud.Lazy()
	if len(o.names) == 0 { // else no pool may be selected
		if cloud, err = o.cloud.Cloud(ctx, place); err != nil {
			if !o.dryRun {
				o.store.World(place, nil, nil).Runner().FailedRun(ctx, o.runOptions(), err)
			}
			return none, err
		}
	}
	w := o.store.World(place, cloud, o.store.Cluster())
	o.place = place.String()
	w.Progress = func(e outcome.Event) { o.progress.Hear(e) }
	return w, nil
}

// openStore opens the store. With --from-state, a run creates a missing store, and a dry run
// uses an empty one in memory.
func (o *options) openStore(ctx context.Context) (store.Store, error) {
	place, err := o.store.Open(ctx, o.fromState != "" && !o.dryRun)
	if !errors.Is(err, store.ErrNoStore) || o.fromState == "" || !o.dryRun {
		return place, err
	}
	location, err := o.store.Locate()
	if err != nil {
		return nil, err
	}
	return draft.Empty(location), nil
}

var errTimeout = errors.New("--timeout expired")

// runOnce runs once: it prints the report, writes metrics unless objects were selected, and
// returns an error with the exit code.
func (o *options) runOnce(ctx context.Context, all *reconcile.Runner, asked reconcile.RunOptions) error {
	started := o.session.Now().UTC()
	limited, cancel := context.WithTimeoutCause(ctx, o.timeout, errTimeout)
	defer cancel()
	report, err := o.reconcile(limited, all, asked)
	ran := !report.FinishedAt.IsZero()
	verdict := o.verdict(limited, report, err)
	var locked *reconcile.RunLockedError
	if !errors.As(err, &locked) {
		report.StartedAt = started
	}
	if !errors.As(err, &locked) && len(asked.Names) == 0 {
		code := process.ExitCode(verdict)
		o.writeMetrics(report, code == process.ExitDone || code == process.ExitChanges)
	}
	if ran {
		if err := o.print(ctx, report, o.place); err != nil && verdict == nil {
			return err
		}
	}
	return verdict
}

func (o *options) reconcile(ctx context.Context, all *reconcile.Runner, asked reconcile.RunOptions) (reconcile.Report, error) {
	if o.fromState != "" {
		state, err := o.readState(ctx)
		if err != nil {
			return reconcile.Report{}, err
		}
		asked.State = state
	}
	o.progress = o.session.StartProgress()
	defer o.progress.Stop()
	return all.Run(ctx, asked)
}

// loop repeats runs, as --every asks for.
func (o *options) loop() *loop.Loop {
	return &loop.Loop{Session: o.session, Every: o.every, Options: o.runOptions(), Once: o.runOnce, Reach: o.store.Reach}
}

// runOptions are the options of a run by the flags.
func (o *options) runOptions() reconcile.RunOptions {
	return reconcile.RunOptions{
		DryRun: o.dryRun, Assume: o.assumed, Names: o.names, Wait: o.wait, WaitTimeout: o.timeout, RunLockTimeout: o.lockTimeout,
		KeepLedger: o.keepLedger, AcceptLoss: strings.TrimSpace(o.acceptLoss),
		KeepHistory: history.Retention{For: o.keepHistory, Bytes: int64(o.historySize)},
	}
}

// readState reads --from-state. A read cannot be interrupted, and a pipe may never end, so
// it runs in a goroutine.
func (o *options) readState(ctx context.Context) (*declaration.TerraformState, error) {
	stream, name, err := o.session.Input(o.fromState)
	if err != nil {
		return nil, fmt.Errorf("cannot read the Terraform state: %w", err)
	}
	defer stream.Close()
	type answer struct {
		state *declaration.TerraformState
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		state, err := declaration.FromState(stream)
		answers <- answer{state, err}
	}()
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("reading the Terraform state from %s: %w", name, context.Cause(ctx))
	case a := <-answers:
		if a.err != nil {
			return nil, fmt.Errorf("%s: %w", name, a.err)
		}
		return a.state, nil
	}
}
