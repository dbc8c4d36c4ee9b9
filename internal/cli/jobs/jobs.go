// Package jobs is the command gpupool jobs.
package jobs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const jobsHelp = `List the requests that the API or "gpupool request" submitted, or print one of them.

The next full run of "gpupool reconcile" does every queued job. A job that no run claims
within 24 hours expires. A finished job is deleted after 7 days.`

const jobsExamples = `  # All jobs, the latest first
  gpupool jobs

  # One job with its result
  gpupool jobs 3f0c7c2f9d0a4b1e8a5d6c7b8e9f0a1b

  # Cancel a job that no run has claimed
  gpupool jobs cancel 3f0c7c2f9d0a4b1e8a5d6c7b8e9f0a1b`

type options struct {
	session *process.Session
	store   connect.StoreFlags
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:     "jobs [ID]",
		Short:   "List requests and their results, or cancel one",
		Long:    jobsHelp,
		Example: jobsExamples,
		Args:    cobra.MaximumNArgs(1),
		RunE:    s.Command(o.run),

		ValidArgsFunction: o.store.CompleteNames(true, store.Jobs),
	}
	o.store.Register(cmd, s)
	s.OutputFlag(cmd)
	cmd.AddCommand(newCancel(s))
	return cmd
}

func newCancel(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:     "cancel ID",
		Short:   "Cancel a queued job",
		Long:    "Cancel a job that no run has claimed. A job that a run has claimed stays as it is.",
		Example: "  gpupool jobs cancel 3f0c7c2f9d0a4b1e8a5d6c7b8e9f0a1b",
		Args:    process.Arguments("gpupool jobs cancel 3f0c7c2f9d0a4b1e8a5d6c7b8e9f0a1b", "ID"),
		RunE:    s.Command(o.cancel),

		ValidArgsFunction: o.store.CompleteNames(true, store.Jobs),
	}
	o.store.Register(cmd, s)
	s.OutputFlag(cmd)
	return cmd
}

func (o *options) run(ctx context.Context, args []string) error {
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	queue := o.store.StoreWorld(place).Jobs()
	if len(args) == 1 {
		job, err := queue.Job(ctx, strings.TrimPrefix(args[0], "job/"))
		if err != nil {
			return err
		}
		return o.session.Print(request.NewJobList([]request.Job{job}), func(terminal.Style) string { return o.describe(job) })
	}
	all, unreadable, err := queue.Jobs(ctx)
	if err != nil {
		return err
	}
	list := request.NewJobList(all, unreadable...)
	if !o.session.JSON() {
		for _, text := range list.Warnings.Texts() {
			o.session.Warn(text)
		}
	}
	return o.session.Print(list, func(style terminal.Style) string { return table(all, o.session.Now(), style.Width) })
}

func (o *options) cancel(ctx context.Context, args []string) error {
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	job, err := o.store.StoreWorld(place).Jobs().Cancel(ctx, strings.TrimPrefix(args[0], "job/"))
	if err != nil {
		return err
	}
	return o.session.Print(request.NewJobList([]request.Job{job}), func(terminal.Style) string { return describe.Job(job) + "\n" })
}

// table lists jobs. On a narrow terminal, it leaves out columns that "gpupool jobs ID" shows.
func table(all []request.Job, now time.Time, width int) string {
	if len(all) == 0 {
		return "No jobs.\n"
	}
	t := &terminal.Table{}
	t.Add("ID", "TYPE", "OBJECT", "STATE", "AGE")
	for _, j := range all {
		t.Add(j.ID, string(j.Type), j.Object, string(j.State), terminal.Age(now.Sub(j.RequestedAt)))
	}
	if width > 0 {
		t.Fit(width, "AGE", "TYPE")
	}
	return strings.Join(t.Lines(), "\n") + "\n"
}

// describe describes one job and its times.
func (o *options) describe(j request.Job) string {
	clock := o.session.Clock().WithZone()
	var out strings.Builder
	fmt.Fprintln(&out, clock.Text(describe.Job(j)))
	fmt.Fprintf(&out, "requested by %s at %s\n", j.RequestedBy, clock.At(j.RequestedAt))
	if j.RunID != "" {
		fmt.Fprintf(&out, "claimed by the run %s, updated at %s\n", j.RunID, clock.At(j.UpdatedAt))
	}
	switch {
	case j.State == request.Queued:
		fmt.Fprintf(&out, "expires at %s\n", clock.At(j.ExpiresAt))
	case j.State.Finished():
		fmt.Fprintf(&out, "kept until %s\n", clock.At(j.ExpiresAt))
	}
	return out.String()
}
