// Package wait is the command gpupool wait.
package wait

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const waitHelp = `Wait for a condition of pools, stock pools or budgets. Exit with 0 when all of them
meet it, and with 1 after --timeout, with what is missing.

  --for capacity=4   the pool has this many instances that work or soon will
  --for available=2  the stock pool has this many ready pods that are not in use
  --for ready        the stock pool is in sync, and all of its pods are ready
  --for recovered    the pool has its minimum, or is drained if its budget
                     drains it; the budget is below its limit, with no
                     enforcement in effect;
                     the stock pool is ready

Pools and stock pools are observed directly. A budget is read from the store, as the
last run judged it. If that is older than max_status_age, it has not recovered.
Nothing is changed or locked.

job/ID waits until that job succeeded, without --for. If it fails, expires or is canceled,
the command exits with 1 at once.

NAME is the name of a pool, a stock pool or a budget. It can include the region, the
namespace or the kind: ap-singapore/train, ml/g1, budget/team-a. A pattern such as
'team-*' selects several.`

const waitExamples = `  # Start a job when the pool has four instances
  gpupool wait train --for capacity=4 --timeout 20m && ./start-training

  # Until two warm pods are available
  gpupool wait stock_pool/ml/g1 --for available=2 --timeout 5m

  # Until a budget allows launches again
  gpupool wait budget/team-a --for recovered --timeout 2h --quiet

  # Until a requested job is done
  gpupool wait job/3f0c7c2f9d0a4b1e8a5d6c7b8e9f0a1b --timeout 10m

  # With a result for a script
  gpupool wait 'team-*' --for recovered --timeout 5m -o json`

type options struct {
	session  *process.Session
	cloud    connect.CloudFlags
	store    connect.StoreFlags
	wanted   string
	timeout  time.Duration
	interval time.Duration
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:     "wait NAME... --for capacity=N|available=N|ready|recovered",
		Short:   "Wait for a condition of an object, or for a job",
		Long:    waitHelp,
		Example: waitExamples,
		Args:    requireNames,
		RunE:    s.Command(o.run),

		ValidArgsFunction: o.store.CompleteNames(false, store.SpotPools, store.StockPools, store.Budgets),
	}
	f := cmd.Flags()
	f.StringVar(&o.wanted, "for", "", "`CONDITION` to wait for: capacity=N, available=N, ready or recovered. Required.")
	_ = cmd.RegisterFlagCompletionFunc("for", cobra.FixedCompletions([]string{"capacity=", "available=", "ready", "recovered"},
		cobra.ShellCompDirectiveNoSpace|cobra.ShellCompDirectiveNoFileComp))
	process.DurationVar(cmd, &o.timeout, "timeout", 20*time.Minute, "Longest time to wait; 0 checks once.")
	process.DurationVar(cmd, &o.interval, "interval", 5*time.Second, "Time between two observations.")
	o.store.Register(cmd, s)
	o.cloud.Register(cmd, s)
	s.LogFlags(cmd)
	s.OutputFlag(cmd)
	return cmd
}

const shortestInterval = 100 * time.Millisecond

// requireNames requires a name.
func requireNames(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("NAME is missing: gpupool wait train --for capacity=4")
	}
	return nil
}

// report is the JSON of wait. It says whether objects meet a condition.
type report struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// When the objects were last observed.
	At time.Time `json:"at"`
	// The condition.
	For string `json:"for"`
	// Whether all objects meet it.
	Reached bool `json:"reached"`
	// The named objects.
	Objects []result `json:"objects"`
}

func (o *options) run(ctx context.Context, names []string) error {
	if ids, err := jobIDs(names); err != nil || len(ids) > 0 {
		if err == nil {
			err = o.runJobs(ctx, ids)
		}
		return err
	}
	wanted, err := parseCondition(o.wanted)
	switch {
	case o.wanted == "":
		return process.Usagef("--for is missing: use capacity=4, available=2, ready or recovered")
	case err != nil:
		return process.WrongUsage(fmt.Errorf("--for: %w", err))
	case o.interval < shortestInterval:
		return process.Usagef("--interval must be at least %s", shortestInterval)
	}
	if err := declaration.Names(names).Validate(); err != nil {
		return process.WrongUsage(err)
	}
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	seen, err := o.waitUntil(ctx, o.store.World(place, o.cloud.Lazy(), o.store.Cluster()).Runner(), wanted, names)
	if err != nil {
		return err
	}
	clock := o.session.Clock().WithZone()
	if err := o.session.Print(seen, func(terminal.Style) string { return seen.text(clock) }); err != nil {
		return err
	}
	if !seen.Reached {
		return fmt.Errorf("timed out after %s waiting for %s:\n  %s", duration.Words(o.timeout), wanted.text, strings.Join(seen.missing(), "\n  "))
	}
	return nil
}

// waitUntil observes until the condition is met or the time is over. Failed observations are
// retried; the objects must be declared.
func (o *options) waitUntil(ctx context.Context, all *reconcile.Runner, wanted condition, names []string) (report, error) {
	latest := report{SchemaVersion: 1, For: wanted.text}
	err := o.poll(ctx, &latest, func() (bool, error) {
		seen, err := all.Status(ctx, names...)
		var unknown *declaration.UnknownNameError
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case errors.As(err, &unknown), err != nil && latest.Objects == nil:
			return false, err
		case err != nil: // earlier observations no longer count
			latest.markUnobserved(err)
		default:
			results, err := wanted.judge(seen)
			if err != nil {
				return false, err
			}
			latest.update(seen.At, results)
		}
		return latest.Reached, nil
	})
	return latest, err
}

// poll observes until observe reports that the wait is over, or the time is. The progress is what
// the report lacks.
func (o *options) poll(ctx context.Context, latest *report, observe func() (over bool, err error)) error {
	progress := o.session.StartProgress()
	defer progress.Stop()
	deadline := o.session.Now().Add(o.timeout)
	for {
		if over, err := observe(); over || err != nil {
			return err
		}
		for _, r := range latest.Objects {
			progress.Hear(outcome.Event{Object: r.Object, Message: r.state()})
		}
		rest := deadline.Sub(o.session.Now())
		if rest <= 0 {
			return nil
		}
		if err := process.Pause(ctx, min(rest, o.interval)); err != nil {
			return err
		}
	}
}

// update updates the report with an observation.
func (r *report) update(at time.Time, results []result) {
	r.At, r.Objects, r.Reached = at, results, len(results) > 0
	for _, of := range results {
		r.Reached = r.Reached && of.Reached
	}
}

// markUnobserved marks all objects as not observed.
func (r *report) markUnobserved(why error) {
	for n := range r.Objects {
		of := &r.Objects[n]
		of.Reached, of.Missing = false, "not observed: "+why.Error()
	}
}

// missing are the unmet conditions.
func (r report) missing() []string {
	var texts []string
	for _, of := range r.Objects {
		if !of.Reached {
			texts = append(texts, of.Object+": "+of.Missing)
		}
	}
	return texts
}

// state is the current state in a few words.
func (r result) state() string {
	if r.Missing != "" {
		return r.Missing
	}
	return r.said
}

// text lists the met conditions and their source. The error lists the others.
func (r report) text(clock terminal.Clock) string {
	var lines strings.Builder
	for _, of := range r.Objects {
		if !of.Reached {
			continue
		}
		source := "observed in Tencent Cloud"
		switch of.Source {
		case fromStore:
			source = "as of the last run " + clock.When(*of.AsOf)
		case fromCluster:
			source = "observed in Kubernetes"
		}
		fmt.Fprintf(&lines, "%s: %s (%s)\n", of.Object, of.said, source)
	}
	return lines.String()
}
