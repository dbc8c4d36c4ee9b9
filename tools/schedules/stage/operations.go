//go:build unix

package stage

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

// terraform applies or destroys, and judges what it says.
func (w *World) terraform(ctx context.Context, operation schedule.Operation, terms schedule.Terms, kill *schedule.Kill) error {
	if operation == schedule.Destroy {
		_, err := w.destroy(ctx, kill, "-refresh=false")
		return err
	}
	_, err := w.apply(ctx, terms, kill)
	return err
}

// apply runs terraform apply.
func (w *World) apply(ctx context.Context, terms schedule.Terms, kill *schedule.Kill) (ending, error) {
	w.count(func(c *schedule.Counts) { c.Applies++ })
	w.watch.allow(terms)
	o, err := w.run(ctx, kill, w.programs.Terraform, "apply", "-auto-approve", "-input=false", "-no-color", "-lock-timeout=10s")
	if err != nil {
		return o, err
	}
	if record, there := w.record(); there {
		w.watch.enforce(termsOf(record.Declaration))
	}
	if o.code == 0 && !warned(o.output) {
		if most := w.watch.mostSince(o.look); most < terms.Minimum {
			w.broken("apply says complete, warns of no shortfall, and the capacity was at most %d of %d since it last looked", most, terms.Minimum)
		}
	}
	return o, nil
}

// warned reports whether an apply said that the pool is below its minimum, or that
// it can't tell.
func warned(output string) bool {
	return slices.ContainsFunc([]string{"below the minimum of", "and its minimum", "still launching", "could not be looked at"}, func(text string) bool {
		return strings.Contains(output, text)
	})
}

// destroy runs terraform destroy. Without a refresh, a state that is older than the
// record is refused.
func (w *World) destroy(ctx context.Context, kill *schedule.Kill, args ...string) (ending, error) {
	w.count(func(c *schedule.Counts) { c.Destroys++ })
	uid := w.state()
	args = append([]string{"destroy", "-auto-approve", "-input=false", "-no-color", "-lock-timeout=10s"}, args...)
	o, err := w.run(ctx, kill, w.programs.Terraform, args...)
	if err == nil && uid != "" && (o.code == 0 || strings.Contains(o.output, "Destroy complete")) {
		w.gone(uid, "terraform destroy")
	}
	return o, err
}

// gone judges that something says a pool is no more: no machine of it may be there,
// and no record.
func (w *World) gone(uid, by string) {
	w.watch.gone(uid)
	if left := schedule.Left(uid, w.server.Instances()); len(left) > 0 {
		w.broken("%s says that the pool %s is gone, and its machines are there: %s", by, uid, strings.Join(left, ", "))
	}
	if record, there := w.record(); there && record.Declaration.UID == uid {
		w.broken("%s says that the pool %s is gone, and its record is there (%s)", by, uid, record.Phase)
	}
}

// buried judges, once nothing runs any more, what is left in the store of pools that
// something said were gone: a tombstone alone.
func (w *World) buried() {
	for _, uid := range w.watch.said() {
		if _, there := read[declaration.Journal](w, journalKey(uid)); there {
			w.broken("the pool %s is gone, and its journal is there", uid)
		}
		if _, there := read[declaration.Tombstone](w, tombstoneKey(uid)); !there {
			w.broken("the pool %s is gone, and has no tombstone", uid)
		}
	}
}

// imports runs terraform import.
func (w *World) imports(ctx context.Context) (ending, error) {
	w.count(func(c *schedule.Counts) { c.Imports++ })
	return w.run(ctx, nil, w.programs.Terraform, "import", "-input=false", "-no-color", address, recordKey.Name)
}

// reconcile runs gpupool reconcile, and judges its report.
func (w *World) reconcile(ctx context.Context, wait bool, kill *schedule.Kill, beside bool) error {
	_, _, err := w.reconciled(ctx, wait, kill, beside)
	return err
}

func (w *World) reconciled(ctx context.Context, wait bool, kill *schedule.Kill, beside bool) (ending, reconcile.Report, error) {
	w.count(func(c *schedule.Counts) { c.Reconciles++ })
	args := []string{"reconcile", "-o", "json", "--timeout", "20s"}
	if wait {
		args = append(args, "--wait")
	}
	if beside {
		args = append(args, "--lock-timeout", "1s")
	}
	var report reconcile.Report
	o, err := w.run(ctx, kill, w.programs.GPUPool, args...)
	if err != nil || o.killed {
		return o, report, err
	}
	if start := strings.Index(o.output, `{ "schema_version"`); start >= 0 {
		if err := json.NewDecoder(strings.NewReader(o.output[start:])).Decode(&report); err != nil {
			w.broken("the report of gpupool reconcile can't be read: %v", err)
		}
	}
	w.judge(report, wait, o)
	return o, report, nil
}

// judge judges what a report says. A run that launched nothing did not wait either,
// and takes for launching what no listing shows yet.
func (w *World) judge(report reconcile.Report, waited bool, o ending) {
	for _, p := range report.SpotPools {
		if p.Deleted {
			w.gone(p.UID, "gpupool reconcile")
			continue
		}
		if !waited || len(report.Decisions) == 0 || p.Outcome != outcome.Done || strings.Contains(strings.Join(p.Warnings, " "), "still launching") {
			continue
		}
		if most := w.watch.mostSince(o.look); most < p.Minimum {
			w.broken("gpupool reconcile --wait says done, and the capacity was at most %d of %d since it last looked", most, p.Minimum)
		}
	}
}

// orphaned is how long a provider may go on whose Terraform was killed.
const orphaned = 1500 * time.Millisecond

// run runs a program to its end.
func (w *World) run(ctx context.Context, kill *schedule.Kill, program string, args ...string) (ending, error) {
	p, err := w.start(ctx, kill, program, args...)
	if err != nil {
		return ending{}, err
	}
	o := p.wait(patience)
	if kill != nil && kill.Victim == schedule.Core && o.killed {
		time.Sleep(orphaned)
	}
	p.finish()
	_ = os.Remove(p.out.Name())
	return o, nil
}
