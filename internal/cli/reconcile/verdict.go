package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// verdict is the exit code of a run, with what there is to say about it.
func (r *runner) verdict(ctx context.Context, report reconcile.Report, err error) error {
	var locked *reconcile.RunLockedError
	failed, rest := report.Failures()
	switch {
	case process.Interrupted(ctx) != nil:
		return process.WithExitCode(process.Interrupted(ctx).Code(), process.Interrupted(ctx).Beside(err))
	case errors.As(err, &locked):
		return process.WithExitCode(r.conflictCode, fmt.Errorf("%w; nothing was done. Let it end, or wait for it with --lock-timeout", err))
	case errors.Is(err, context.DeadlineExceeded) && errors.Is(context.Cause(ctx), errTimeout):
		return process.WithExitCode(process.ExitFailed, fmt.Errorf("the run was stopped after %s (--timeout): %w", r.timeout, err))
	case err != nil:
		return process.WithExitCode(process.ExitFailed, err)
	case errors.Is(context.Cause(ctx), errTimeout) && unfinished(report) > 0:
		left := unfinished(report)
		err = fmt.Errorf("the run was stopped after %s (--timeout) with %d of %d %s to go; the next one goes on", r.timeout, left, failed+rest, describe.Declarations(len(report.SpotPools), len(report.Budgets)))
		return process.WithExitCode(process.Partly(failed+rest-left), err)
	case failed > 0:
		return process.WithExitCode(process.Partly(rest), r.failures(report, failed))
	case r.detailed && report.Changes():
		return process.WithExitCode(process.ExitChanges, nil)
	}
	return nil
}

// unfinished counts the declarations that a run did not see to.
func unfinished(report reconcile.Report) int {
	n := 0
	for _, p := range report.SpotPools {
		if p.Outcome == reconcile.Skipped || p.Outcome == reconcile.Failed {
			n++
		}
	}
	for _, b := range report.Budgets {
		if b.Outcome == reconcile.Skipped || b.Outcome == reconcile.Failed {
			n++
		}
	}
	return n
}

// failures names what failed, where the report isn't for people.
func (r *runner) failures(report reconcile.Report, failed int) error {
	pools, budgets := len(report.SpotPools), len(report.Budgets)
	err := fmt.Errorf("%d of %d %s failed", failed, pools+budgets, describe.Declarations(pools, budgets))
	if r.output == process.AsTable {
		return err
	}
	errs := []error{err}
	for _, b := range report.Budgets {
		if b.Outcome == reconcile.Failed && b.Error != nil {
			errs = append(errs, fmt.Errorf("budget %s: %s", b.Name, b.Error.Message))
		}
	}
	for _, p := range report.SpotPools {
		if p.Outcome == reconcile.Failed && p.Error != nil {
			errs = append(errs, fmt.Errorf("%s/%s: %s", p.Region, p.Name, p.Error.Message))
		}
	}
	return errors.Join(errs...)
}
