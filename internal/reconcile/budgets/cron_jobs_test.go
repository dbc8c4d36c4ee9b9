package budgets_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// starts has the CronJob nightly start a Job, unless it is suspended.
func (d *fixture) starts(job string) {
	d.t.Helper()
	w := func(kind, name string) budget.Workload {
		return budget.Workload{Namespace: "ml", Owner: ledger.Owner{APIVersion: "batch/v1", Kind: kind, Name: name, UID: "uid-of-" + name}}
	}
	if c := d.Cluster.Workloads["uid-of-nightly"]; c != nil && c.Stopped {
		return
	}
	d.Cluster.Schedule(w("Job", job), w("CronJob", "nightly"))
	d.Cluster.Start("ml", job+"-pod", 4, ownedBy("Job", job))
}

// scheduled is a fixture whose CronJob started two Jobs, which are paused, in this order.
func scheduled(t *testing.T, concurrent bool) (*fixture, budget.Declaration) {
	t.Helper()
	d := newFixture(t)
	b := d.Declare(enforcing(budget.Pause), quietly)
	d.starts("old")
	d.Cluster.Step(30 * time.Minute)
	d.starts("new")
	d.Cluster.Workloads["uid-of-nightly"].Concurrent = concurrent
	d.Cluster.Step(time.Hour)
	wantTold(t, d.Run(), "done alert", "done suspend nightly", "done suspend new", "done suspend old")
	return d, b
}

// TestAPausedCronJobStartsNoJobs, and after the pause what ran at once runs on, or one Job if the CronJob runs
// one at a time.
func TestAPausedCronJobStartsNoJobs(t *testing.T) {
	t.Parallel()
	for concurrent, left := range map[bool][]string{true: nil, false: {"old"}} {
		d, b := scheduled(t, concurrent)
		for n := range 3 {
			d.starts(fmt.Sprint("more-", n))
			d.Cluster.Step(10 * time.Minute)
			wantTold(t, d.Run())
		}
		d.raise(b)
		report := d.Run()
		want := []string{"done resume old", "done resume new", "done resume nightly"}
		if !concurrent {
			want[0] = "skipped resume old"
			if text := report.Decisions[0].Error.Message; !strings.Contains(text, "the newer Job new of its CronJob is resumed instead: it stays suspended") {
				t.Errorf("it says %q", text)
			}
		}
		wantTold(t, report, want...)
		if got := d.Cluster.Stopped(); !slices.Equal(got, left) || len(d.holds()) > 0 {
			t.Errorf("concurrent %t: stopped are %v, and the store holds %v", concurrent, got, d.holds())
		}
	}
}

// TestFewJobsOfACronJobStartAtOnce although its pause was undone, and many of its Jobs were paused since.
func TestFewJobsOfACronJobStartAtOnce(t *testing.T) {
	t.Parallel()
	d, b := scheduled(t, true)
	d.Cluster.Scale("nightly", 1)
	for n := range 30 {
		d.Cluster.Step(time.Minute)
		d.starts(fmt.Sprintf("more-%02d", n))
		d.Run()
	}
	if got := len(d.Cluster.Stopped()); got != 32 {
		t.Fatalf("%d workloads are stopped", got)
	}
	d.raise(b)
	d.Run()
	running := 0
	for _, w := range d.Cluster.Workloads {
		if w.Kind == "Job" && !w.Stopped {
			running++
		}
	}
	if running != 1 || d.Cluster.Workloads["uid-of-more-29"].Stopped || len(d.holds()) > 0 {
		t.Errorf("%d Jobs run; stopped are %v, and the store holds %v", running, d.Cluster.Stopped(), d.holds())
	}
}

// TestOneOfJobsOfTheSameSecondIsResumed.
func TestOneOfJobsOfTheSameSecondIsResumed(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare(enforcing(budget.Pause), quietly)
	d.starts("a")
	d.starts("b")
	d.Cluster.Step(time.Hour)
	d.Run()
	d.raise(b)
	d.Run()
	if got := d.Cluster.Stopped(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("stopped are %v", got)
	}
}

// TestACronJobThatAUserSuspendedStaysSo: no pause and no resumption is made of it.
func TestACronJobThatAUserSuspendedStaysSo(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare(enforcing(budget.Pause), quietly)
	d.starts("job")
	d.Cluster.Scale("nightly", 0)
	d.Cluster.Step(time.Hour)
	wantTold(t, d.Run(), "done alert", "done suspend job")
	d.raise(b)
	wantTold(t, d.Run(), "done resume job")
	if got := d.Cluster.Stopped(); !slices.Equal(got, []string{"nightly"}) {
		t.Errorf("stopped are %v", got)
	}
}

// TestADestroyedBudgetResumesItsCronJob after its newest Job.
func TestADestroyedBudgetResumesItsCronJob(t *testing.T) {
	t.Parallel()
	d, b := scheduled(t, false)
	acts := len(d.Cluster.Acts)
	if _, err := d.Budgets().Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	resumed := slices.DeleteFunc(d.Cluster.Acts[acts:], func(act string) bool { return !strings.HasPrefix(act, "Resume") })
	if !slices.Equal(resumed, []string{"Resume new", "Resume nightly"}) || !slices.Equal(d.Cluster.Stopped(), []string{"old"}) {
		t.Errorf("it did %v, and stopped are %v", resumed, d.Cluster.Stopped())
	}
}
