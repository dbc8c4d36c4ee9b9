// Package request is the command gpupool request.
package request

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const requestHelp = `Submit a request as a job, as the API does. The command only writes to the store, and
needs no access to Tencent Cloud or to a cluster. The next full run of "gpupool reconcile"
does the job.

"gpupool jobs" lists jobs and their results, and "gpupool wait job/ID" waits for one.`

const requestExamples = `  # A run by the process that runs gpupool reconcile
  gpupool request run

  # 50 more GPU-hours for the next four hours
  gpupool request grant team-a 50 --duration 4h --reason "release 3.1"

  # A stock pool for two days
  gpupool request stock-pool ml/g1 --spec-name g1.1 --memory 16Gi --gpu 1 \
    --replicas 2 --duration 2d`

// New is the command.
func New(s *process.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "request",
		Short:   "Submit a request that the next run does",
		Long:    requestHelp,
		Example: requestExamples,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRun(s), newGrant(s), newHold(s), newStockPool(s), newDelete(s))
	return cmd
}

// options are those of all requests.
type options struct {
	session *process.Session
	store   connect.StoreFlags
	person  connect.PersonFlags
	key     string
}

func (o *options) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.key, "idempotency-key", "", "`KEY` of the request. A repeated request with the same key is the same job.")
	_ = cmd.RegisterFlagCompletionFunc("idempotency-key", cobra.NoFileCompletions)
	o.session.OutputFlag(cmd)
}

// report is the JSON of request. It contains the job.
type report struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// The job.
	Job request.Job `json:"job"`
}

// submit queues a request, and prints its job.
func (o *options) submit(ctx context.Context, build func(store.Store) (request.Request, error)) error {
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	r, err := build(place)
	if err != nil {
		return err
	}
	job, err := o.store.StoreWorld(place).Jobs().Submit(ctx, r, o.person.Author(ctx, place), o.key)
	var invalid *request.InvalidError
	if errors.As(err, &invalid) {
		return process.WrongUsage(err)
	}
	if err != nil {
		return err
	}
	return o.session.Print(report{1, job}, func(terminal.Style) string {
		text := o.session.Clock().WithZone().Text(describe.Job(job)) + "\n"
		if !job.State.Finished() {
			text += fmt.Sprintf("the next full run does it; to wait for that:\n  gpupool wait job/%s\n", job.ID)
		}
		return text
	})
}

func newRun(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:     "run",
		Short:   "Request a run",
		Long:    "Request a run. The job succeeds when the next full run is complete.",
		Example: "  gpupool request run",
		Args:    process.NoArguments,
		RunE: s.Command(func(ctx context.Context, _ []string) error {
			return o.submit(ctx, func(store.Store) (request.Request, error) { return request.Request{Run: &request.Run{}}, nil })
		}),
	}
	o.store.Register(cmd, s)
	o.person.RegisterAuthor(cmd, &o.store)
	o.register(cmd)
	return cmd
}

func newGrant(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:     "grant BUDGET GPU_HOURS (--duration DURATION | --until TIME) --reason TEXT",
		Short:   "Request additional GPU-hours for a budget",
		Long:    "Request additional GPU-hours for a budget. The duration begins with the submission.",
		Example: `  gpupool request grant team-a 50 --duration 4h --reason "release 3.1"`,
		Args:    process.Arguments(`gpupool request grant team-a 50 --duration 4h --reason "release 3.1"`, "BUDGET", "GPU_HOURS"),
		RunE: s.Command(func(ctx context.Context, args []string) error {
			return o.submit(ctx, func(place store.Store) (request.Request, error) {
				name := strings.TrimPrefix(args[0], "budget/")
				if d, err := o.store.StoreWorld(place).Budgets().Find(ctx, name); err == nil { // else the run refuses it
					o.person.In(d.TimeZone)
				}
				span, err := o.person.Span(place)
				return request.Request{Grant: &request.Grant{Budget: name, GPUHours: args[1], Span: span, Reason: o.person.Reason()}}, err
			})
		}),

		ValidArgsFunction: o.store.CompleteNames(true, store.Budgets),
	}
	o.store.Register(cmd, s)
	o.person.Register(cmd, &o.store, true)
	o.register(cmd)
	return cmd
}

func newHold(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:     "hold POOL (--duration DURATION | --until TIME) --reason TEXT",
		Short:   "Request a hold of a pool",
		Long:    "Request a pause of the reconciliation of a spot pool. The duration begins with the submission.",
		Example: `  gpupool request hold train --duration 2h --reason "driver upgrade"`,
		Args:    process.Arguments(`gpupool request hold train --duration 2h --reason "driver upgrade"`, "POOL"),
		RunE: s.Command(func(ctx context.Context, args []string) error {
			return o.submit(ctx, func(place store.Store) (request.Request, error) {
				span, err := o.person.Span(place)
				return request.Request{Hold: &request.Hold{Pool: strings.TrimPrefix(args[0], "spot_pool/"), Span: span, Reason: o.person.Reason()}}, err
			})
		}),

		ValidArgsFunction: o.store.CompleteNames(true, store.SpotPools),
	}
	o.store.Register(cmd, s)
	o.person.Register(cmd, &o.store, true)
	o.register(cmd)
	return cmd
}
