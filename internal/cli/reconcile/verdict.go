package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// verdict is the exit code of a run, with an error.
func (o *options) verdict(ctx context.Context, report reconcile.Report, err error) error {
	var locked *reconcile.RunLockedError
	failed, rest := report.Failures()
	signal := process.Interrupted(ctx)
	switch {
	case signal != nil:
		return process.WithExitCode(signal.Code(), signal.Join(err))
	case errors.As(err, &locked):
		return process.WithExitCode(o.conflictCode, fmt.Errorf("%w; nothing was done: wait for it with --lock-timeout 5m", err))
	case errors.Is(err, context.DeadlineExceeded) && errors.Is(context.Cause(ctx), errTimeout):
		return process.WithExitCode(process.ExitFailed, fmt.Errorf("the run was stopped after %s (--timeout): %w", duration.Words(o.timeout), err))
	case err != nil:
		return process.WithExitCode(process.ExitFailed, err)
	case errors.Is(context.Cause(ctx), errTimeout) && unfinished(report) > 0:
		left := unfinished(report)
		err = fmt.Errorf("the run was stopped after %s (--timeout) with %d of %d %s left; the next one continues", duration.Words(o.timeout), left, failed+rest,
			describe.Declarations(report.Declarations()))
		return process.WithExitCode(process.Partly(failed+rest-left), err)
	case failed > 0:
		return process.WithExitCode(process.Partly(rest), o.failures(report, failed))
	case o.detailed && report.Changes():
		return process.WithExitCode(process.ExitChanges, nil)
	}
	return nil
}

// unfinished counts the declarations that a run did not finish.
func unfinished(report reconcile.Report) int {
	return outcome.Count(report.Declarations(), outcome.Skipped, outcome.Failed)
}

// failures is the error of failed declarations. It lists them if neither text nor logs do.
func (o *options) failures(report reconcile.Report, failed int) error {
	all := report.Declarations()
	err := fmt.Errorf("%d of %d %s failed", failed, len(all), describe.Declarations(all))
	if !o.session.JSON() && !o.session.Output(process.None) || o.session.LogsJSON() {
		return err
	}
	errs := []error{err}
	for _, s := range all {
		if s.Outcome == outcome.Failed && s.Error != nil {
			errs = append(errs, fmt.Errorf("%s: %s", describe.Declaration(s), s.Error.Message))
		}
	}
	return errors.Join(errs...)
}
