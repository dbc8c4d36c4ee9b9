package reconcile_test

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/notify"
	"github.com/gpupool/terraform-provider-gpupool/internal/notify/notifytest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/notifications"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// alerting returns a gated pool, an Alertmanager that gets the exceeded budgets, and a run.
func alerting(t *testing.T) (g *gated, receiver *notifytest.Server, run func()) {
	t.Helper()
	g = newGated(t)
	receiver = notifytest.New(t, notification.Alertmanager)
	receiver.Now = g.cluster.Now
	world := g.process()
	world.Sender = notify.Sender{Now: g.cluster.Now}
	if _, err := world.Notifications().Create(context.Background(), notification.Declaration{
		Name: "ops", Type: receiver.Type, URL: receiver.URL, URLVersion: 1, Events: []history.Kind{history.Exceeded}, TimeZone: "Asia/Shanghai",
	}); err != nil {
		t.Fatal(err)
	}
	return g, receiver, func() {
		t.Helper()
		if _, err := world.Runner().Run(context.Background(), reconcile.RunOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLastingAlertsHaveTheNumbersOfTheLastRun, and until when the grace period lasts.
func TestLastingAlertsHaveTheNumbersOfTheLastRun(t *testing.T) {
	t.Parallel()
	g, receiver, run := alerting(t)
	if _, err := g.process().Budgets().Create(context.Background(), budget.Declaration{
		Name: "freezes", GPUHours: "4", Window: "45m", Selector: g.budget.Selector,
		Enforce: budget.Enforcement{Action: budget.Freeze, GracePeriod: "30m"},
	}.WithDefaults()); err != nil {
		t.Fatal(err)
	}
	g.cluster.Start("ml", "train", 8)
	run()
	g.cluster.Step(35 * time.Minute)
	exceeded := g.cluster.Now()
	for _, used := range []string{"4.667", "5.333"} {
		run()
		summaries := map[string]string{}
		for _, a := range receiver.Alerts() {
			summaries[a.Labels["object"]] = a.Summary
		}
		grace := exceeded.Add(30 * time.Minute).In(time.FixedZone("", 8*3600)).Format("2006-01-02 15:04 -07:00")
		for object, want := range map[string]string{
			"budget/team-a":  "its enforcement is alert_only",
			"budget/freezes": "its grace period lasts until " + grace + ", and then its enforcement is freeze",
		} {
			if got := summaries[object]; !strings.Contains(got, used+" of 4.000 GPU-hours are used") || !strings.Contains(got, want) {
				t.Errorf("the alert of %s is %q, want %s GPU-hours and %q", object, got, used, want)
			}
		}
		g.cluster.Step(5 * time.Minute)
	}
}

// TestAlertsFireBetweenHourlyRuns until a run finds that the condition ended, and without runs for some hours.
func TestAlertsFireBetweenHourlyRuns(t *testing.T) {
	t.Parallel()
	g, receiver, run := alerting(t)
	pod := g.cluster.Start("ml", "train", 8)
	run()
	for hour := range 8 {
		g.cluster.Step(time.Hour - time.Second)
		if firing := len(receiver.Alerts()); hour > 0 && firing != 1 {
			t.Fatalf("before the run of hour %d, %d alerts fire", hour, firing)
		}
		g.cluster.Step(time.Second)
		run()
	}
	g.cluster.Step(2 * time.Hour) // a run is missing
	if firing := len(receiver.Alerts()); firing != 1 {
		t.Errorf("after two hours without a run, %d alerts fire", firing)
	}
	g.cluster.Remove(pod)
	g.cluster.Step(time.Hour - time.Second)
	run()
	if firing := receiver.Alerts(); len(firing) > 0 {
		t.Errorf("after the condition ended, these alerts fire: %+v", firing)
	}
}

// full is a store on a full disk.
type full struct{ store.Store }

func (full) Unwritable() error { return syscall.ENOSPC }

// TestUnrecordedAttemptsAreNotSent fails each write of a journal in the run that sends a message. The run does not fail.
func TestUnrecordedAttemptsAreNotSent(t *testing.T) {
	t.Parallel()
	play := func(f faults.Fault) (n notified, p *faults.Process, report reconcile.Report) {
		n, p = newNotified(t), &faults.Process{}
		n.exceed()
		p.Fault = f
		report, err := reconciletest.Possess(n.world(), p).Runner().Run(context.Background(), reconcile.RunOptions{})
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		return n, p, report
	}
	_, whole, _ := play(faults.Fault{})
	first := slices.Index(whole.Trace(), "Write deliveries") // claims the events, and the next one records the attempt
	tried := 0
	for at, call := range whole.Trace() {
		if call != "Write deliveries" || at > slices.Index(whole.Trace(), "Send") {
			continue
		}
		tried++
		f := faults.Fault{On: call, At: at + 1, Times: 1, Err: syscall.ENOSPC}
		n, p, report := play(f)
		failed, _ := report.Failures()
		says := func(text string) bool {
			return strings.Contains(text, syscall.ENOSPC.Error()) && strings.HasPrefix(text, "notification/ops: ")
		}
		if failed > 0 || slices.Contains(p.Trace(), "Send") || !slices.ContainsFunc(report.Warnings.Texts(), says) {
			t.Errorf("%s: %d failed, the calls are %q, the warnings %q", f, failed, p.Trace(), report.Warnings)
		}
		if at > first {
			n.verifyDelay(f.String())
		}
		n.cluster.Step(time.Minute)
		n.reconcile()
		n.verify(f.String())
	}
	if tried < 2 {
		t.Errorf("%d writes come before the message: %q", tried, whole.Trace())
	}
}

// verifyDelay checks that status reports that events wait: at once on a full disk, otherwise after some hours.
func (n notified) verifyDelay(when string) {
	n.t.Helper()
	describe := func(change func(*reconcile.World)) notifications.Description {
		w := n.world()
		change(&w)
		status, err := w.Runner().Status(context.Background())
		if err != nil || len(status.Notifications) != 1 {
			n.t.Fatalf("%s: %+v, %v", when, status.Notifications, err)
		}
		return status.Notifications[0]
	}
	for name, tt := range map[string]struct {
		change func(*reconcile.World)
		want   string
	}{
		"at once":        {func(*reconcile.World) {}, ""},
		"on a full disk": {func(w *reconcile.World) { w.Store = full{w.Store} }, "Make the store writable"},
		"after four hours": {func(w *reconcile.World) {
			w.Clock = func() time.Time { return n.cluster.Now().Add(4 * time.Hour) }
		}, "Run gpupool reconcile"},
	} {
		d := describe(tt.change)
		if bad := tt.want != ""; d.Pending < 3 || bad != (d.State == state.Failing) || !strings.Contains(d.Reason().String(), tt.want) {
			n.t.Errorf("%s, %s: status has %+v: %s", when, name, d, d.Reason().String())
		}
	}
}
