package stage

import (
	"context"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

func (w *World) run(ctx context.Context, c Command, plan schedule.Process) (Ending, error) {
	c.Terms = w.terms
	p := &Process{world: w, name: w.name(c.Verb), plan: plan, reached: map[string]int{}}
	w.log.say("start %s", p.name)
	e, err := w.programs.Run(ctx, c, p)
	e.verb = c.Verb
	e.killed, e.looked = p.end()
	w.log.say("end of %s: exit code %d (killed: %t)\n%s", p.name, e.Code, e.killed, tail(e.Text, 12))
	return e, err
}

// apply runs terraform apply, and checks its report.
func (w *World) apply(ctx context.Context, plan schedule.Process) (Ending, error) {
	w.count(func(c *schedule.Counts) { c.Applies++ })
	w.watch.allow(w.terms)
	e, err := w.run(ctx, Command{Verb: Apply}, plan)
	if err != nil {
		return e, err
	}
	if record, there := w.records.pool(); there {
		w.watch.enforce(termsOf(record.Declaration))
	}
	if e.Code == 0 && !warned(e.Text) {
		if most := w.watch.mostSince(e.looked); most < w.terms.Minimum {
			w.broken("apply reports completion without a shortfall, and the capacity was at most %d of %d since its last observation", most, w.terms.Minimum)
		}
	}
	return e, nil
}

// warned reports whether an apply warned that the pool is below its minimum, or that this is
// unknown.
func warned(text string) bool {
	text = strings.Join(strings.Fields(text), " ") // without the line breaks that wrap it
	return slices.ContainsFunc([]string{"below the minimum of", "and its minimum", "still launching", "had not been observed"}, func(part string) bool {
		return strings.Contains(text, part)
	})
}

// destroy runs terraform destroy. Without a refresh, a state that is older than the
// record is refused.
func (w *World) destroy(ctx context.Context, plan schedule.Process, stale bool) (Ending, error) {
	w.count(func(c *schedule.Counts) { c.Destroys++ })
	uid := w.programs.State()
	e, err := w.run(ctx, Command{Verb: Destroy, Stale: stale}, plan)
	if err == nil && uid != "" && (e.Code == 0 || strings.Contains(e.Text, "Destroy complete")) {
		w.gone(uid, "terraform destroy")
	}
	return e, err
}

// gone checks a report that a pool is destroyed: it must have no machine and no record.
func (w *World) gone(uid, by string) {
	w.watch.gone(uid)
	if left := schedule.Left(uid, w.cloud.Instances()); len(left) > 0 {
		w.broken("%s reports that the pool %s is destroyed, and it has machines: %s", by, uid, strings.Join(left, ", "))
	}
	if record, there := w.records.pool(); there && record.Declaration.UID == uid {
		w.broken("%s reports that the pool %s is destroyed, and it has a record (%s)", by, uid, record.Phase)
	}
}

// reconcile runs gpupool reconcile, and judges its report. A run that launched nothing
// did not wait either, and takes for launching what no listing shows yet.
func (w *World) reconcile(ctx context.Context, plan schedule.Process, beside bool) (Ending, error) {
	w.count(func(c *schedule.Counts) { c.Reconciles++ })
	e, err := w.run(ctx, Command{Verb: Reconcile, Wait: plan.Wait, Beside: beside}, plan)
	if err != nil || e.killed {
		return e, err
	}
	for _, p := range e.Report.SpotPools {
		if p.Deleted {
			w.gone(p.UID, "gpupool reconcile")
			continue
		}
		if !plan.Wait || len(e.Report.Decisions) == 0 || p.Outcome != outcome.Done ||
			strings.Contains(strings.Join(p.Warnings.Texts(), " "), "still launching") {
			continue
		}
		if most := w.watch.mostSince(e.looked); most < p.Minimum {
			w.broken("gpupool reconcile --wait reports done, and the capacity was at most %d of %d since its last observation", most, p.Minimum)
		}
	}
	return e, nil
}
