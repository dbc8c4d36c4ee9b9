// Package serve is the command gpupool serve.
package serve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/jobs"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/page"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/snapshot"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const serveHelp = `Serve an HTTP API, and reconcile repeatedly.

The API lists pools, budgets and stock pools, explains decisions, and accepts requests:
jobs, which the next run does. Its JSON is that of the CLI; /api/v1/openapi.json
describes it. The address itself is a page for browsers. /metrics is for
Prometheus; /livez and /readyz are for probes.

The store is the truth. Any number of servers, cron jobs and applies can share it: one
run works at a time, and the others skip theirs. A server can be killed at any time.

On a loopback address without tokens, every local user has all rights. Other addresses
need TLS, or a proxy with TLS, and users: a file of tokens, or the users of the cluster.
A user with rights in some namespaces sees only the objects of these namespaces.`

const serveExamples = `  # On this machine
  gpupool serve
  curl http://127.0.0.1:9171/api/v1/budgets

  # Without runs, next to a cron job
  gpupool serve --read-only

  # For others, who have tokens
  hash=$(printf %s "$TOKEN" | sha256sum | cut -d' ' -f1)
  echo "alice $hash reader ml" >> tokens
  gpupool serve --listen :9171 --tls-cert tls.crt --tls-key tls.key \
    --tokens-file tokens`

type options struct {
	session  *process.Session
	cloud    connect.CloudFlags
	store    connect.StoreFlags
	access   accessFlags
	every    time.Duration
	timeout  time.Duration
	readOnly bool
	limits   request.Limits
	wake     chan struct{} // there is a request
	source   *snapshot.Source
	words    page.Words
}

// New is the command. The words are those of its pages.
func New(s *process.Session, words page.Words) *cobra.Command {
	o := &options{session: s, access: accessFlags{session: s}, wake: make(chan struct{}, 1), words: words}
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Serve the API and reconcile repeatedly",
		Long:    serveHelp,
		Example: serveExamples,
		Args:    process.NoArguments,
		RunE:    s.Command(o.run),
	}
	f := cmd.Flags()
	o.store.Register(cmd, s)
	o.access.register(cmd)
	process.DurationVar(cmd, &o.every, "every", 40*time.Second, "Interval of runs.")
	process.DurationVar(cmd, &o.timeout, "timeout", 15*time.Minute, "Longest duration of a run.")
	f.BoolVar(&o.readOnly, "read-only", false, "Only serve: reconcile nothing, and accept no requests for changes.")
	f.IntVar(&o.limits.Pods, "requested-pods", 0, "Maximum number of pods of requested stock pools in a namespace; 0 is no limit.")
	f.IntVar(&o.limits.GPUs, "requested-gpus", 0, "Maximum number of GPUs of requested stock pools in a namespace; 0 is no limit.")
	process.Exclusive(cmd, "read-only", "every", "a read-only server does not reconcile")
	o.cloud.Register(cmd, s)
	s.LogFlags(cmd)
	return cmd
}

func (o *options) run(ctx context.Context, _ []string) error {
	if o.limits.Pods < 0 || o.limits.GPUs < 0 {
		return process.Usagef("--requested-pods and --requested-gpus must not be negative")
	}
	if o.every == 0 || o.timeout == 0 {
		return process.Usagef("--every and --timeout must be longer than 0")
	}
	if err := o.access.validate(); err != nil {
		return err
	}
	defer o.session.OnInterrupt(ctx, "finishing current requests and calls; send a second signal to stop at once")()
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	world := o.store.World(place, o.cloud.Lazy(), o.store.Cluster())
	users, err := o.access.authenticator(o.store.Client, o.session.Now)
	if err != nil {
		return err
	}
	listener, config, url, err := o.access.open(ctx)
	if err != nil {
		return err
	}
	o.source = snapshot.New(world)
	handler := serve.Handler(serve.Options{
		Source: o.source, Authenticator: users, Version: o.session.Build.Version, Log: o.session.Logger(), Loopback: serve.Loopback(o.access.listen),
		BehindProxy: o.access.behindProxy, ReadOnly: o.readOnly, Jobs: o.jobs(place), Submitted: o.submitted, Words: o.words,
	})
	if err := o.session.Put("serving " + world.Store.String() + " at " + url + "\n"); err != nil {
		return errors.Join(err, listener.Close())
	}
	return o.both(ctx, func(ctx context.Context) error { return serve.Serve(ctx, listener, config, handler) }, world)
}

// both serves and reconciles until one of them ends, and then ends the other.
func (o *options) both(ctx context.Context, serve func(context.Context) error, w reconcile.World) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	served := make(chan error, 1)
	go func() {
		err := serve(ctx)
		if err != nil {
			cancel(err)
		}
		served <- err
	}()
	var err error
	if o.readOnly {
		<-ctx.Done()
		err = context.Cause(ctx)
	} else {
		err = o.loop().Repeat(ctx, w)
	}
	cancel(err)
	failed := <-served
	if signal := process.Interrupted(ctx); signal != nil {
		return process.WithExitCode(signal.Code(), signal)
	}
	if failed != nil {
		return fmt.Errorf("the server stopped: %w", failed)
	}
	return err
}

// jobs is the queue of requests, which is in the store.
func (o *options) jobs(place store.Store) jobs.Queue {
	queue := o.store.StoreWorld(place).Jobs()
	queue.Limits = func(string) request.Limits { return o.limits }
	return queue
}

// submitted starts the next run now.
func (o *options) submitted() {
	select {
	case o.wake <- struct{}{}:
	default: // it starts already
	}
}

// loop repeats runs.
func (o *options) loop() *loop.Loop {
	return &loop.Loop{Session: o.session, Every: o.every, Once: o.runOnce, Reach: o.store.Reach, Wake: o.wake}
}

// runOnce runs once. That another process runs is normal.
func (o *options) runOnce(ctx context.Context, all *reconcile.Runner, asked reconcile.RunOptions) error {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	report, err := all.Run(ctx, asked)
	o.source.Warm(ctx)
	var locked *reconcile.RunLockedError
	switch failed, rest := report.Failures(); {
	case errors.As(err, &locked):
		o.session.Logger().InfoContext(ctx, "run skipped", "detail", err.Error())
		return nil
	case err != nil:
		return err
	case failed > 0:
		return fmt.Errorf("%d of %d objects failed: gpupool status lists them", failed, failed+rest)
	}
	return nil
}
