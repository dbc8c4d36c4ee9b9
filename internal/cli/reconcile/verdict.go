package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// verdict is the exit code of a run, with an error that says why.
func (o *options) verdict(ctx context.Context, report reconcile.Report, err error) error {
	var locked *reconcile.RunLockedError
	failed, rest := report.Failures()
	signal := process.Interrupted(ctx)
	switch {
	case signal != nil:
		return process.WithExitCode(signal.Code(), signal.Beside(err))
	case errors.As(err, &locked):
		return process.WithExitCode(o.conflictCode, fmt.Errorf("%w; nothing was done. Let it end, or wait for it with --lock-timeout", err))
	case errors.Is(err, context.DeadlineExceeded) && errors.Is(context.Cause(ctx), errTimeout):
		return process.WithExitCode(process.ExitFailed, fmt.Errorf("the run was stopped after %s (--timeout): %w", o.timeout, err))
	case err != nil:
		return process.WithExitCode(process.ExitFailed, err)
	case errors.Is(context.Cause(ctx), errTimeout) && unfinished(report) > 0:
		left := unfinished(report)
		err = fmt.Errorf("the run was stopped after %s (--timeout) with %d of %d %s to go; the next one goes on", o.timeout, left, failed+rest,
			describe.Declarations(report.Declarations()))
		return process.WithExitCode(process.Partly(failed+rest-left), err)
	case failed > 0:
		return process.WithExitCode(process.Partly(rest), o.failures(report, failed))
	case o.detailed && report.Changes():
		return process.WithExitCode(process.ExitChanges, nil)
	}
	return nil
}

// unfinished counts the declarations that a run did not get to.
func unfinished(report reconcile.Report) int {
	return outcome.Count(report.Declarations(), outcome.Skipped, outcome.Failed)
}

// failures says how much failed and, with JSON or no output, what: the text for people
// has named it already, and so have logs for programs.
func (o *options) failures(report reconcile.Report, failed int) error {
	all := report.Declarations()
	err := fmt.Errorf("%d of %d %s failed", failed, len(all), describe.Declarations(all))
	if !o.session.JSON() && !o.session.Mute() || o.session.LogsJSON() {
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
