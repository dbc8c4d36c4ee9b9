package stage

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

// recoverPool does what a person does after a round, without faults, and checks that the pool then
// recovers.
func (w *World) recoverPool(ctx context.Context, r schedule.Round) error {
	if err := w.resume(ctx, r); err != nil {
		return err
	}
	if w.records.isLossRecent(w.cloud.Now()) {
		if _, err := w.cloud.StepClock(spotpool.TagLag + time.Minute); err != nil {
			return err
		}
		if err := w.cleanReconcile(ctx); err != nil {
			return err
		}
	}
	record, there := w.records.pool()
	if !there {
		w.watch.enforce(schedule.Terms{})
	}
	if r.Operation == schedule.Destroy && there && record.Phase == declaration.Deleting {
		w.broken("the next clean %s left the deletion unfinished", r.Remedy)
	}
	if there && record.Phase == declaration.Active {
		w.log.breaks(Pool.Unrecovered(termsOf(record.Declaration), w.cloud.machines(), w.cloud.Now()))
	}
	for _, uid := range w.watch.reportedDestroyed() {
		for _, wrong := range w.records.left(uid) {
			w.broken("the pool %s is gone, and %s", uid, wrong)
		}
	}
	w.log.breaks(schedule.Touched(w.cloud.Calls(), w.cloud.Instances(), w.cloud.foreign))
	w.cloud.ResetCalls()
	return nil
}

// resume continues from the state that a round left.
func (w *World) resume(ctx context.Context, r schedule.Round) error {
	record, recorded := w.records.pool()
	inState := w.programs.State()
	if recorded && inState != "" && inState != record.Declaration.UID {
		// The state of a creation was never saved: it has the pool before, which is
		// gone, and Terraform notices.
		if e, err := w.run(ctx, Command{Verb: Refresh}, schedule.Process{}); err != nil || e.Code != 0 {
			return w.clean(e, err)
		}
		if inState = w.programs.State(); inState != "" {
			w.broken("a refresh left the pool %s in the state, and it is gone", inState)
		}
	}
	switch {
	case r.Operation == schedule.Destroy:
		return w.resumeDestroy(ctx, r, inState != "")
	case recorded && record.Phase == declaration.Deleting, recorded && record.Phase == declaration.Active && inState != "":
		if r.Remedy == schedule.ByTerraform && record.Phase == declaration.Active {
			return w.cleanApply(ctx)
		}
		return w.cleanReconcile(ctx)
	case inState != "":
		return w.cleanApply(ctx) // the record was lost
	case recorded && record.Phase == declaration.Creating && r.Remedy != schedule.ByImport:
		return w.cleanApply(ctx) // it resumes the creation
	case recorded, len(w.cloud.machines()) > 0:
		return w.importAndApply(ctx)
	}
	return nil // nothing came of it
}

// resumeDestroy finishes a destruction, if there is anything to finish.
func (w *World) resumeDestroy(ctx context.Context, r schedule.Round, inState bool) error {
	if r.Remedy == schedule.ByReconcile || !inState {
		if _, recorded := w.records.pool(); recorded {
			return w.cleanReconcile(ctx)
		}
		return nil
	}
	return w.clean(w.destroy(ctx, schedule.Process{}, false))
}

// clean checks how a program ends without faults.
func (w *World) clean(e Ending, err error) error {
	if err == nil && e.Code != 0 {
		w.broken("a clean %s ends with exit code %d: %s", e.verb, e.Code, tail(e.Text, 6))
	}
	return err
}

func (w *World) cleanApply(ctx context.Context) error {
	return w.clean(w.apply(ctx, schedule.Process{}))
}

func (w *World) importAndApply(ctx context.Context) error {
	w.count(func(c *schedule.Counts) { c.Imports++ })
	e, err := w.run(ctx, Command{Verb: Import}, schedule.Process{})
	if err := w.clean(e, err); err != nil || e.Code != 0 {
		return err
	}
	return w.cleanApply(ctx)
}

func (w *World) cleanReconcile(ctx context.Context) error {
	e, err := w.reconcile(ctx, schedule.Process{Wait: true}, false)
	if err := w.clean(e, err); err != nil {
		return err
	}
	for _, p := range e.Report.SpotPools {
		if p.Outcome != outcome.Done && !w.records.isLossRecent(w.cloud.Now()) {
			w.broken("a clean reconcile says %s of the pool: %v %v", p.Outcome, p.Short, p.Error)
		}
	}
	return nil
}
