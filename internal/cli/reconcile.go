package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/draft"
)

const reconcileHelp = `Look at everything that is declared, and bring it where it should be. First count
what budgets have used, tell of the thresholds that were crossed, and enforce their
limits; then launch what a pool lacks to its minimum, terminate what it has above its
maximum, go on with refreshes and deletions. A run returns once its launches are accepted; --wait
stays until the instances are there.

Any number of runs may be started, beside each other and beside terraform apply:
one run at a time works, and one process at a time works on a pool. A run that is
killed is made good by the next one, without launching anything twice.

A pool that stays short because there is no stock, or only above its price cap,
is no failure: its outcome says short, and the exit code is 0.

`

const reconcileExamples = `  # What a run would do
  gpupool reconcile --dry-run

  # A line for cron: every minute, for at most five
  * * * * *  gpupool reconcile --store directory:/var/lib/gpupool --timeout 5m

  # As a service, with metrics for the textfile collector of node_exporter
  gpupool reconcile --every 40s --metrics-file /var/lib/node_exporter/gpupool.prom

  # In a pipeline that has the Terraform state and no store of its own
  terraform show -json | gpupool reconcile --from-state - --wait

  # For a script
  gpupool reconcile -o json | jq '.spot_pools[] | select(.outcome != "done")'`

type reconcileOptions struct {
	session     *session
	cloud       cloudOptions
	store       storeOptions
	output      string
	fromState   string
	dryRun      bool
	wait        bool
	detailed    bool
	every       time.Duration
	timeout     time.Duration
	lockTimeout time.Duration
	keepLedger  time.Duration
	acceptLoss  string
	given       func(flag string) bool
	metricsFile string
	// conflictCode is the exit code where another run is under way.
	conflictCode int
}

func newReconcile(s *session) *cobra.Command {
	o := &reconcileOptions{session: s}
	cmd := &cobra.Command{
		Use:     "reconcile",
		Short:   "Bring every pool and budget where it is declared to be",
		Long:    reconcileHelp + exitCodesHelp,
		Example: reconcileExamples,
		Args:    cobra.NoArgs,
		RunE:    s.run(o.run),
	}
	f := cmd.Flags()
	o.given = f.Changed
	o.store.register(cmd)
	f.StringVar(&o.fromState, "from-state", "", "take declarations from this `FILE` (or - for standard input), too: what terraform show -json or terraform state pull prints")
	f.BoolVar(&o.dryRun, "dry-run", false, "decide and report, and change nothing")
	f.BoolVar(&o.wait, "wait", false, "stay until what was launched is there, or --timeout is over")
	lengthVar(cmd, &o.every, "every", 0, "run again and again, each so long after the one before began, until stopped")
	lengthVar(cmd, &o.timeout, "timeout", 15*time.Minute, "how long a run may take")
	lengthVar(cmd, &o.lockTimeout, "lock-timeout", 0, "how long to wait for another run to end before giving up (exit code 11)")
	lengthVar(cmd, &o.keepLedger, "keep-ledger", reconcile.DefaultKeepLedger, "how long the ledger keeps what ended, also where no budget's window reaches back to it")
	f.StringVar(&o.acceptLoss, "accept-loss", "", "go on without what is lost of the ledger by now, for this `REASON`, which is kept: it holds nothing back any more")
	f.IntVar(&o.conflictCode, "conflict-exit-code", exitRunLocked, "exit with this `CODE` where another run is under way")
	f.BoolVar(&o.detailed, "detailed-exitcode", false, "exit with 2 where something was done or, in a dry run, would be")
	f.StringVar(&o.metricsFile, "metrics-file", "", "write metrics of the run to this `FILE`, in the Prometheus text format")
	_ = cmd.MarkFlagFilename("metrics-file", "prom")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "wait")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "metrics-file")
	cmd.MarkFlagsMutuallyExclusive("every", "detailed-exitcode")
	cmd.MarkFlagsMutuallyExclusive("every", "accept-loss") // of losses to come nobody can know
	o.cloud.register(cmd)
	s.log.register(cmd)
	outputVar(cmd, &o.output)
	return cmd
}

// reasonAtMost is how long a reason may be that is kept.
const reasonAtMost = 500

func (o *reconcileOptions) validate() error {
	switch {
	case o.timeout == 0:
		return usagef("--timeout must be longer than 0, such as 5m")
	case o.keepLedger == 0:
		return usagef("--keep-ledger must be longer than 0, such as 35d")
	case o.given("accept-loss") && strings.TrimSpace(o.acceptLoss) == "" || len(o.acceptLoss) > reasonAtMost:
		return usagef("--accept-loss needs a reason of at most %d characters", reasonAtMost)
	case o.conflictCode < 0 || o.conflictCode > 255:
		return usagef("--conflict-exit-code must be from 0 to 255")
	case o.every > 0 && o.fromState == "-":
		return usagef("standard input can be read once only: with --every, name a file in --from-state")
	}
	if dir := filepath.Dir(o.metricsFile); o.metricsFile != "" {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return usagef("--metrics-file %s: there is no directory %s", o.metricsFile, dir)
		}
	}
	return nil
}

func (o *reconcileOptions) run(ctx context.Context, _ []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	defer o.session.onInterrupt(ctx, "what is under way is finished first; a second signal ends at once")()
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
		if signal := interrupted(ctx); signal != nil {
			return withExitCode(signal.code(), signal)
		}
		if err != nil && !silent(err) {
			r.session.complain(err)
		}
		if errors.Is(err, errReaderGone) {
			return err
		}
		if err := pause(ctx, next.Sub(r.session.Now())); err != nil {
			return err
		}
	}
}

// runner runs, once or several times.
type runner struct {
	*reconcileOptions
	engine *reconcile.Engine
}

// open prepares what a run needs, and calls nobody yet.
func (o *reconcileOptions) open(ctx context.Context) (*runner, error) {
	r := &runner{reconcileOptions: o}
	place, err := o.openStore(ctx)
	if err != nil {
		return nil, err
	}
	log := o.session.log.logger(o.session.Process)
	cloud, err := o.cloud.lazily(ctx, o.session, place, log)
	if err != nil {
		return nil, err
	}
	r.engine = &reconcile.Engine{Cloud: cloud, Cluster: o.store.kube.cluster(o.session), Store: place, Actor: o.store.actor, Log: log}
	return r, nil
}

// openStore makes a store where --from-state brings declarations and there is
// none. A dry run has no right to: it takes an empty one in memory.
func (o *reconcileOptions) openStore(ctx context.Context) (store.Store, error) {
	place, err := o.store.open(ctx, o.session, o.fromState != "" && !o.dryRun)
	if !errors.Is(err, store.ErrNoStore) || o.fromState == "" || !o.dryRun {
		return place, err
	}
	location, err := o.store.locate(o.session)
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
		code := exitCode(verdict)
		r.writeMetrics(report, code == exitDone || code == exitChanges)
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
	progress := r.session.startProgress()
	defer progress.stop()
	r.engine.Progress = progress.hear
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
