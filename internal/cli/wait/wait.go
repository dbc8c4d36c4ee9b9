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
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const waitHelp = `Wait until pools, stock pools or budgets are as asked, and end with 0; with 1 where that
has not come before --timeout, saying what is missing. NAME is that of a pool
(REGION/NAME as well), a stock pool (NAMESPACE/NAME) or a budget, also with its kind
before it (stock_pool/ml/g1), or a glob of these: then each of them has to be so.

  --for capacity=4   a pool has so many instances that work, or launch and will soon
  --for available=2  a stock pool has so many pods that are ready and not in use
  --for ready        a stock pool is as declared, and all of its pods are ready
  --for recovered    a pool has what is wanted of it: its minimum, or nothing while its
                     exceeded budget drains it; a budget is below its limit, and nothing
                     of what it enforced is in force any more; a stock pool is ready

A pool is looked at in the cloud, and a stock pool in the cluster, as gpupool status
does. Of a budget what counts is
how the last run judged it, which the store has: where runs don't go on, or that is
older than max_status_age, it has not recovered. wait launches and changes nothing, and
takes no lock.`

const waitExamples = `  # Go on once the pool is there
  gpupool wait train --for capacity=4 --timeout 20m && ./start-training

  # Once two runtimes are warm
  gpupool wait stock_pool/ml/g1 --for available=2 --timeout 5m

  # Until a budget lets its pools launch again
  gpupool wait team-a --for recovered --timeout 2h --quiet

  # What was waited for, for a script
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
		Short:   "Wait until a pool, a stock pool or a budget is as asked",
		Long:    waitHelp,
		Example: waitExamples,
		Args:    named,
		RunE:    s.Command(o.run),

		ValidArgsFunction: o.store.CompleteNames(false, store.SpotPools, store.StockPools, store.Budgets),
	}
	f := cmd.Flags()
	f.StringVar(&o.wanted, "for", "", "`WHAT` to wait for: capacity=N, available=N, ready, or recovered")
	_ = cmd.RegisterFlagCompletionFunc("for", cobra.FixedCompletions([]string{"capacity=", "available=", "ready", "recovered"},
		cobra.ShellCompDirectiveNoSpace|cobra.ShellCompDirectiveNoFileComp))
	process.DurationVar(cmd, &o.timeout, "timeout", 20*time.Minute, "how long to wait; 0 looks once")
	process.DurationVar(cmd, &o.interval, "interval", 5*time.Second, "how long after a look the next one follows")
	o.store.Register(cmd, s)
	o.cloud.Register(cmd, s)
	s.LogFlags(cmd)
	s.OutputFlag(cmd)
	return cmd
}

// named says that a name is missing.
func named(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("name what to wait for: gpupool wait NAME --for capacity=4, available=2, ready, or recovered")
	}
	return nil
}

// report is the JSON of wait: whether objects meet a condition.
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
	wanted, err := parseCondition(o.wanted)
	switch {
	case o.wanted == "":
		return process.Usagef("--for is missing: write --for capacity=4, available=2, ready, or recovered")
	case err != nil:
		return process.WrongUsage(fmt.Errorf("--for: %w", err))
	case o.interval < 100*time.Millisecond:
		return process.Usagef("--interval must be at least 100ms")
	}
	if err := declaration.Names(names).Validate(); err != nil {
		return process.WrongUsage(err)
	}
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	seen, err := o.until(ctx, o.store.World(place, o.cloud.Lazy(), o.store.Cluster()).Runner(), wanted, names)
	if err != nil {
		return err
	}
	clock := o.session.Clock()
	if err := o.session.Print(seen, func(terminal.Style) string { return seen.text(clock) }); err != nil {
		return err
	}
	if !seen.Reached {
		return fmt.Errorf("%s has not come in %s: %s", wanted.text, o.timeout, strings.Join(seen.missing(), "; "))
	}
	return nil
}

// until observes again and again, until all is as wanted or the time is over. After an
// observation that fails, the next one tries again; what is waited for must be declared.
func (o *options) until(ctx context.Context, all *reconcile.Runner, wanted condition, names []string) (report, error) {
	progress := o.session.StartProgress()
	defer progress.Stop()
	deadline := o.session.Now().Add(o.timeout)
	latest := report{SchemaVersion: 1, For: wanted.text}
	for {
		seen, err := all.Status(ctx, names...)
		var unknown *declaration.UnknownNameError
		switch {
		case ctx.Err() != nil:
			return latest, context.Cause(ctx)
		case errors.As(err, &unknown), err != nil && latest.Objects == nil:
			return latest, err
		case err != nil: // what was seen before is not so any more, as far as is known
			latest.forget(err)
		default:
			results, err := wanted.judge(seen)
			if err != nil {
				return latest, err
			}
			latest.take(seen.At, results)
		}
		if latest.Reached {
			return latest, nil
		}
		for _, r := range latest.Objects {
			progress.Hear(outcome.Event{Object: r.Object, Message: r.state()})
		}
		rest := deadline.Sub(o.session.Now())
		if rest <= 0 {
			return latest, nil
		}
		if err := process.Pause(ctx, min(rest, o.interval)); err != nil {
			return latest, err
		}
	}
}

// take has the report be of an observation.
func (r *report) take(at time.Time, results []result) {
	r.At, r.Objects, r.Reached = at, results, len(results) > 0
	for _, of := range results {
		r.Reached = r.Reached && of.Reached
	}
}

// forget has nothing of a report be so.
func (r *report) forget(why error) {
	for n := range r.Objects {
		of := &r.Objects[n]
		of.Reached, of.Missing = false, "it can't be seen: "+why.Error()
	}
}

// missing are what keeps it from being reached.
func (r report) missing() []string {
	var texts []string
	for _, of := range r.Objects {
		if !of.Reached {
			texts = append(texts, of.name()+": "+of.Missing)
		}
	}
	return texts
}

func (r result) name() string {
	if pool, ok := strings.CutPrefix(r.Object, "spot_pool/"); ok {
		return pool
	}
	return strings.Replace(strings.Replace(r.Object, "/", " ", 1), "_", " ", 1)
}

// state is how it stands, in a few words.
func (r result) state() string {
	if r.Missing != "" {
		return r.Missing
	}
	return r.said
}

// text is what was reached, and where that is known from. What is missing is told by
// the error.
func (r report) text(clock terminal.Clock) string {
	var lines strings.Builder
	for _, of := range r.Objects {
		if !of.Reached {
			continue
		}
		source := "as looked at in the cloud"
		switch of.Source {
		case fromStore:
			source = "as the last run judged it " + clock.When(*of.AsOf)
		case fromCluster:
			source = "as looked at in the cluster"
		}
		fmt.Fprintf(&lines, "%s: %s, %s\n", of.name(), of.said, source)
	}
	return lines.String()
}
