//go:build unix

package stage

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

// makeGood does what a person does after a round, in a cloud that is well again, and
// checks that the pool is then where it should be.
func (w *World) makeGood(ctx context.Context, r schedule.Round) error {
	if err := w.resume(ctx, r); err != nil {
		return err
	}
	record, there := w.record()
	if !there {
		w.watch.enforce(schedule.Terms{})
	}
	if r.Operation == schedule.Destroy && there && record.Phase == deleting {
		w.broken("the next clean %s left the deletion unfinished", r.Remedy)
	}
	if there && record.Phase == active {
		machines := w.machines()
		if held := schedule.Held(machines); held > record.Declaration.Maximum {
			w.broken("the next clean run left %d machines, and maximum is %d", held, record.Declaration.Maximum)
		}
		if capacity := pool.Capacity(machines, w.server.Now()); capacity < record.Declaration.Minimum {
			w.broken("the next clean run left the capacity at %d, and minimum is %d", capacity, record.Declaration.Minimum)
		}
	}
	w.buried()
	for _, text := range schedule.Touched(w.server.Calls(), w.server.Instances(), w.foreign) {
		w.broken("%s", text)
	}
	w.server.ResetCalls()
	return nil
}

// resume goes on from whatever a round left behind.
func (w *World) resume(ctx context.Context, r schedule.Round) error {
	record, recorded := w.record()
	inState := w.state()
	if recorded && inState != "" && inState != record.Declaration.UID {
		// The state of a creation was never saved: it has the pool before, which is
		// gone, and Terraform notices.
		if o, err := w.run(ctx, nil, w.programs.Terraform, "apply", "-refresh-only", "-auto-approve", "-input=false", "-no-color"); err != nil || o.code != 0 {
			w.broken("a refresh ends with exit code %d: %s", o.code, tail(o.text, 6))
			return err
		}
		if inState = w.state(); inState != "" {
			w.broken("a refresh left the pool %s in the state, and it is gone", inState)
		}
	}
	switch {
	case r.Operation == schedule.Destroy:
		return w.resumeDestroy(ctx, r, inState != "")
	case recorded && record.Phase == deleting, recorded && record.Phase == active && inState != "":
		if r.Remedy == schedule.ByTerraform && record.Phase == active {
			return w.cleanApply(ctx, r)
		}
		return w.cleanReconcile(ctx)
	case inState != "":
		return w.cleanApply(ctx, r) // the record was lost
	case recorded && record.Phase == creating && r.Remedy != schedule.ByImport:
		return w.cleanApply(ctx, r) // it resumes the creation
	case recorded, len(w.machines()) > 0:
		return w.importAndApply(ctx, r)
	}
	return nil // nothing came of it
}

// resumeDestroy finishes a destruction, if there is anything to finish.
func (w *World) resumeDestroy(ctx context.Context, r schedule.Round, inState bool) error {
	if r.Remedy == schedule.ByReconcile || !inState {
		if _, recorded := w.record(); recorded {
			return w.cleanReconcile(ctx)
		}
		return nil
	}
	o, err := w.destroy(ctx, nil)
	if err == nil && o.code != 0 {
		w.broken("a clean destroy ends with exit code %d: %s", o.code, tail(o.text, 6))
	}
	return err
}

func (w *World) cleanApply(ctx context.Context, r schedule.Round) error {
	o, err := w.apply(ctx, r.Terms, nil)
	if err == nil && o.code != 0 {
		w.broken("a clean apply ends with exit code %d: %s", o.code, tail(o.text, 6))
	}
	return err
}

func (w *World) importAndApply(ctx context.Context, r schedule.Round) error {
	o, err := w.imports(ctx)
	if err != nil {
		return err
	}
	if o.code != 0 {
		w.broken("an import ends with exit code %d: %s", o.code, tail(o.text, 6))
		return nil
	}
	return w.cleanApply(ctx, r)
}

func (w *World) cleanReconcile(ctx context.Context) error {
	o, report, err := w.reconciled(ctx, true, nil, false)
	if err != nil {
		return err
	}
	if o.code != 0 {
		w.broken("a clean reconcile ends with exit code %d: %s", o.code, tail(o.text, 6))
	}
	for _, p := range report.SpotPools {
		if p.Outcome != outcome.Done {
			w.broken("a clean reconcile says %s of the pool: %v %v", p.Outcome, p.Short, p.Error)
		}
	}
	return nil
}
