package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// verdict is the exit code of a run, with what there is to say about it.
func (r *runner) verdict(ctx context.Context, report reconcile.Report, err error) error {
	var locked *reconcile.RunLockedError
	failed, rest := report.Failures()
	switch {
	case interrupted(ctx) != nil:
		return withExitCode(interrupted(ctx).code(), interrupted(ctx).beside(err))
	case errors.As(err, &locked):
		return withExitCode(r.conflictCode, fmt.Errorf("%w; nothing was done. Let it end, or wait for it with --lock-timeout", err))
	case errors.Is(err, context.DeadlineExceeded) && errors.Is(context.Cause(ctx), errTimeout):
		return withExitCode(exitFailed, fmt.Errorf("the run was stopped after %s (--timeout): %w", r.timeout, err))
	case err != nil:
		return withExitCode(exitFailed, err)
	case errors.Is(context.Cause(ctx), errTimeout) && unfinished(report) > 0:
		left := unfinished(report)
		err = fmt.Errorf("the run was stopped after %s (--timeout) with %d of %d %s to go; the next one goes on", r.timeout, left, failed+rest, declarations(len(report.SpotPools), len(report.Budgets)))
		return withExitCode(partly(failed+rest-left), err)
	case failed > 0:
		return withExitCode(partly(rest), r.failures(report, failed))
	case r.detailed && report.Changes():
		return withExitCode(exitChanges, nil)
	}
	return nil
}

func partly(done int) int {
	if done > 0 {
		return exitPartly
	}
	return exitFailed
}

// declarations is what so many pools and budgets are called together.
func declarations(pools, budgets int) string {
	switch {
	case budgets == 0:
		return "pools"
	case pools == 0:
		return "budgets"
	}
	return "declarations"
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
	err := fmt.Errorf("%d of %d %s failed", failed, pools+budgets, declarations(pools, budgets))
	if r.output == asTable {
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
