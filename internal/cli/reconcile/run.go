package reconcile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/draft"
)

// runner runs, once or several times.
type runner struct {
	*options
	engine *reconcile.Engine
}

func (o *options) run(ctx context.Context, _ []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	defer o.session.OnInterrupt(ctx, "what is under way is finished first; a second signal ends at once")()
	started := o.session.Now()
	r, err := o.open(ctx)
	switch {
	case err != nil:
		o.writeMetrics(reconcile.Report{StartedAt: started}, false)
		return err
	case o.every > 0:
		return r.again(ctx)
	}
	return r.once(ctx)
}

// again runs until it is stopped. What fails in one run is for the next one to
// make good, except that there must be a store and credentials to begin with.
func (r *runner) again(ctx context.Context) error {
	for {
		next := r.session.Now().Add(r.every)
		err := r.once(ctx)
		if signal := process.Interrupted(ctx); signal != nil {
			return process.WithExitCode(signal.Code(), signal)
		}
		if err != nil && !process.Silent(err) {
			r.session.Complain(err)
		}
		if errors.Is(err, process.ErrReaderGone) {
			return err
		}
		if err := process.Pause(ctx, next.Sub(r.session.Now())); err != nil {
			return err
		}
	}
}

// open prepares what a run needs, and calls nobody yet.
func (o *options) open(ctx context.Context) (*runner, error) {
	r := &runner{options: o}
	place, err := o.openStore(ctx)
	if err != nil {
		return nil, err
	}
	log := o.session.Log.Logger(o.session.Process)
	cloud, err := o.cloud.Cloud(ctx, o.session, place, log)
	if err != nil {
		return nil, err
	}
	r.engine = o.store.Engine(o.session, place, cloud, o.store.Kube.Cluster(o.session))
	return r, nil
}

// openStore makes a store where --from-state brings declarations and there is
// none. A dry run has no right to: it takes an empty one in memory.
func (o *options) openStore(ctx context.Context) (store.Store, error) {
	place, err := o.store.Open(ctx, o.session, o.fromState != "" && !o.dryRun)
	if !errors.Is(err, store.ErrNoStore) || o.fromState == "" || !o.dryRun {
		return place, err
	}
	location, err := o.store.Locate(o.session)
	if err != nil {
		return nil, err
	}
	return draft.Empty(location.String()), nil
}

var errTimeout = errors.New("--timeout is over")

// once runs once: it prints the report, writes the metrics, and returns an
// error with the exit code.
func (r *runner) once(ctx context.Context) error {
	started := r.session.Now().UTC()
	limited, cancel := context.WithTimeoutCause(ctx, r.timeout, errTimeout)
	defer cancel()
	report, err := r.reconcile(limited)
	ran := !report.FinishedAt.IsZero()
	verdict := r.verdict(limited, report, err)
	var locked *reconcile.RunLockedError
	if !errors.As(err, &locked) {
		report.StartedAt = started
		code := process.ExitCode(verdict)
		r.writeMetrics(report, code == process.ExitDone || code == process.ExitChanges)
	}
	if ran {
		if err := r.print(report); err != nil && verdict == nil {
			return err
		}
	}
	return verdict
}

func (r *runner) reconcile(ctx context.Context) (reconcile.Report, error) {
	options := reconcile.RunOptions{DryRun: r.dryRun, Wait: r.wait, WaitTimeout: r.timeout, RunLockTimeout: r.lockTimeout, KeepLedger: r.keepLedger, AcceptLoss: strings.TrimSpace(r.acceptLoss)}
	if r.fromState != "" {
		state, err := r.readState(ctx)
		if err != nil {
			return reconcile.Report{}, err
		}
		options.State = state
	}
	progress := r.session.StartProgress()
	defer progress.Stop()
	r.engine.Progress = progress.Hear
	return r.engine.Run(ctx, options)
}

// readState reads the state that --from-state names.
func (r *runner) readState(ctx context.Context) (*declaration.TerraformState, error) {
	if r.fromState != "-" {
		f, err := os.Open(r.fromState)
		if err != nil {
			return nil, fmt.Errorf("cannot read the Terraform state: %w", err)
		}
		defer f.Close() //nolint:errcheck // it was only read
		state, err := declaration.FromState(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.fromState, err)
		}
		return state, nil
	}
	type answer struct {
		state *declaration.TerraformState
		err   error
	}
	answers := make(chan answer, 1)
	go func() { // a read of a pipe can't be interrupted
		state, err := declaration.FromState(r.session.Stdin)
		answers <- answer{state, err}
	}()
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("reading the Terraform state from standard input: %w", context.Cause(ctx))
	case a := <-answers:
		if a.err != nil {
			return nil, fmt.Errorf("standard input: %w", a.err)
		}
		return a.state, nil
	}
}
