package wait

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/jobs"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
)

const jobPrefix = "job/"

// jobIDs returns the IDs if the names are those of jobs.
func jobIDs(names []string) (ids []string, err error) {
	for _, name := range names {
		if id, is := strings.CutPrefix(name, jobPrefix); is {
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 && len(ids) < len(names) {
		return nil, process.Usagef("wait for jobs and for other objects with a command each")
	}
	return ids, nil
}

// runJobs waits until all jobs succeeded, or one of them did not.
func (o *options) runJobs(ctx context.Context, ids []string) error {
	switch {
	case o.wanted != "":
		return process.Usagef("--for does not apply to a job: omit it")
	case o.interval < shortestInterval:
		return process.Usagef("--interval must be at least %s", shortestInterval)
	}
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	seen, failed, err := o.untilJobs(ctx, o.store.StoreWorld(place).Jobs(), ids)
	if err != nil {
		return err
	}
	clock := o.session.Clock().WithZone()
	if err := o.session.Print(seen, func(terminal.Style) string {
		var lines strings.Builder
		for _, r := range seen.Objects {
			if r.Reached {
				fmt.Fprintln(&lines, clock.Text(r.Object+": "+r.said))
			}
		}
		return lines.String()
	}); err != nil {
		return err
	}
	switch missing := strings.Join(seen.missing(), "\n  "); {
	case failed:
		return fmt.Errorf("not done:\n  %s", missing)
	case !seen.Reached:
		return fmt.Errorf("timed out after %s waiting for:\n  %s", duration.Words(o.timeout), missing)
	}
	return nil
}

// untilJobs reads the jobs until all of them succeeded, one did not, or the time is over.
func (o *options) untilJobs(ctx context.Context, queue jobs.Queue, ids []string) (seen report, failed bool, err error) {
	seen = report{SchemaVersion: 1, For: string(request.Succeeded)}
	err = o.poll(ctx, &seen, func() (bool, error) {
		var results []result
		now := o.session.Now().UTC()
		for _, id := range ids {
			job, err := queue.Job(ctx, id)
			if err != nil {
				return false, err
			}
			results = append(results, ofJob(job, now))
			failed = failed || job.State.Finished() && job.State != request.Succeeded
		}
		seen.update(now, results)
		return seen.Reached || failed, nil
	})
	return seen, failed, err
}

func ofJob(j request.Job, now time.Time) result {
	said := string(j.State)
	if why := describe.JobResult(j); why != "" {
		said += ": " + why
	}
	r := result{Object: jobPrefix + j.ID, Reached: j.State == request.Succeeded, Source: fromStore, AsOf: &now, said: said}
	if !r.Reached {
		r.Missing = said
	}
	return r
}
