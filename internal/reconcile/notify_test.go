package reconcile_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// notified is a gated pool with a notification.
type notified struct {
	*gated
	declared notification.Declaration
	receiver *reconciletest.Receiver
}

func newNotified(t *testing.T) notified {
	t.Helper()
	n := notified{gated: newGated(t), receiver: &reconciletest.Receiver{}}
	created, err := n.world().Notifications().Create(context.Background(), notification.Declaration{
		Name: "ops", Type: notification.Slack, URL: "https://hooks.example.com/T/B/x", URLVersion: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	n.declared = created.Declaration
	return n
}

func (n notified) world() reconcile.World {
	w := n.process()
	w.Sender = n.receiver
	return w
}

func (n notified) reconcile() reconcile.Report {
	n.t.Helper()
	report, err := n.world().Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil {
		n.t.Fatal(err)
	}
	return report
}

// exceed uses more GPU-hours than the budget allows.
func (n notified) exceed() {
	n.cluster.Start("ml", "train", 8)
	n.reconcile()
	n.cluster.Step(30 * time.Minute)
}

// verify checks that each selected event arrived once, or in a message that says it was sent again.
func (n notified) verify(killed string) {
	n.t.Helper()
	answer, err := (&eventlog.Log{Store: n.Store(), Now: n.cluster.Now}).Ask(context.Background(), history.Query{})
	if err != nil {
		n.t.Fatal(err)
	}
	arrived := map[string][]notification.Message{}
	for _, m := range n.receiver.Messages() {
		for _, l := range m.Lines {
			arrived[l.ID] = append(arrived[l.ID], m)
		}
	}
	selected := 0
	for _, e := range answer.Events {
		if !n.declared.Selects(&e) {
			continue
		}
		selected++
		messages := arrived[e.ID]
		if len(messages) == 0 {
			n.t.Errorf("%s: the %s of %s did not arrive", killed, e.Kind, e.Object)
		}
		for _, m := range messages[min(1, len(messages)):] {
			if !m.Repeated || m.ID != messages[0].ID {
				n.t.Errorf("%s: the %s of %s arrived twice", killed, e.Kind, e.Object)
			}
		}
	}
	if selected < 3 {
		n.t.Errorf("%s: only %d events were selected", killed, selected)
	}
}

// TestNotificationsSurviveKills kills the run that finds a budget exceeded, before and after each call
// that a notification depends on.
func TestNotificationsSurviveKills(t *testing.T) {
	t.Parallel()
	run := func(n notified, p *faults.Process) {
		n.exceed()
		_, _ = reconciletest.Possess(n.world(), p).Runner().Run(context.Background(), reconcile.RunOptions{})
	}
	whole := &faults.Process{}
	run(newNotified(t), whole)
	if !slices.Contains(whole.Trace(), "Send") {
		t.Fatalf("a whole run sends nothing: %q", whole.Trace())
	}
	for at, call := range whole.Trace() {
		if call != "Send" && call != "Write deliveries" && call != "Write history" && call != "Write statuses" {
			continue
		}
		for _, after := range []bool{false, true} {
			fault := faults.Fault{On: call, At: at + 1, After: after}
			t.Run(fault.String(), func(t *testing.T) {
				t.Parallel()
				n := newNotified(t)
				p := &faults.Process{Fault: fault}
				run(n, p)
				if !p.Dead() {
					t.Fatal("the run was not killed")
				}
				for range 2 {
					n.cluster.Step(time.Minute)
					n.reconcile()
				}
				n.verify(fault.String())
			})
		}
	}
}

func TestFailedDeliveriesAreRetriedAndFailNoRun(t *testing.T) {
	t.Parallel()
	n := newNotified(t)
	n.exceed()
	n.receiver.Err = &notification.Failure{Code: "45009", Reason: reason.ReceiverBusy(reason.Unexplained("api freq out of limit"))}
	report := n.reconcile()
	if failed, _ := report.Failures(); failed > 0 || len(report.Notifications) != 1 || report.Notifications[0].Failure == nil {
		t.Errorf("%d failed, notifications: %+v", failed, report.Notifications)
	}
	status, err := n.world().Runner().Status(context.Background())
	if err != nil || len(status.Notifications) != 1 {
		t.Fatalf("%+v, %v", status.Notifications, err)
	}
	d := status.Notifications[0]
	if d.State != state.Failing || d.Failed != 1 || d.Pending < 3 || !strings.Contains(d.Reason().String(), "45009: api freq out of limit. The next") ||
		!strings.HasSuffix(d.Reason().String(), "fewer notifications with this URL.") {
		t.Errorf("status: %+v: %s", d, d.Reason().String())
	}
	n.receiver.Err = nil
	n.cluster.Step(time.Second)
	if report = n.reconcile(); len(n.receiver.Messages()) > 0 {
		t.Error("it was tried again at once")
	}
	n.cluster.Step(time.Minute)
	n.reconcile()
	n.verify("after a failure")
	for _, m := range n.receiver.Messages() {
		if m.Repeated {
			t.Errorf("%s was refused, and says that it was sent before", m.ID)
		}
	}
}

// TestAnIdleRunWritesNothingForNotifications, and a dry run sends nothing.
func TestAnIdleRunWritesNothingForNotifications(t *testing.T) {
	t.Parallel()
	n := newNotified(t)
	n.exceed()
	if _, err := n.world().Runner().Run(context.Background(), reconcile.RunOptions{DryRun: true}); err != nil {
		t.Fatal(err)
	}
	if sent := n.receiver.Messages(); len(sent) > 0 {
		t.Errorf("a dry run sent %d messages", len(sent))
	}
	n.reconcile()
	n.cluster.Step(time.Minute)
	n.reconcile()
	read := func() store.Document {
		doc, err := n.Store().Read(context.Background(), store.Key{Kind: store.Deliveries, Name: n.declared.UID})
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	before, sent := read(), len(n.receiver.Messages())
	n.cluster.Step(time.Minute)
	n.reconcile()
	if after := read(); after.Revision != before.Revision || len(n.receiver.Messages()) != sent {
		t.Errorf("an idle run wrote %s\nafter %s", after.Data, before.Data)
	}
}

// TestRunsThatFailAsAWholeAreReported, also if they could not begin.
func TestRunsThatFailAsAWholeAreReported(t *testing.T) {
	t.Parallel()
	n := newNotified(t)
	n.reconcile()
	n.cluster.Step(time.Minute)
	n.world().Runner().FailedRun(context.Background(), reconcile.RunOptions{}, errors.New("no credentials"))
	n.cluster.Step(time.Minute)
	n.reconcile()
	var titles []string
	for _, m := range n.receiver.Messages() {
		titles = append(titles, m.Title())
	}
	if !slices.Equal(titles, []string{"gpupool: critical: run: run failed", "gpupool: resolved: run: no longer failing"}) {
		t.Errorf("sent %q", titles)
	}
}

// TestALostJournalIsReported: what was delivered is unknown, so nothing is sent again.
func TestALostJournalIsReported(t *testing.T) {
	t.Parallel()
	n := newNotified(t)
	n.exceed()
	n.reconcile()
	sent := len(n.receiver.Messages())
	key := store.Key{Kind: store.Deliveries, Name: n.declared.UID}
	doc, err := n.Store().Read(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Store().Delete(context.Background(), key, doc.Revision); err != nil {
		t.Fatal(err)
	}
	n.cluster.Step(time.Minute)
	report := n.reconcile()
	lost := func(text string) bool { return strings.Contains(text, "deliveries were lost") }
	if len(n.receiver.Messages()) != sent || !slices.ContainsFunc(report.Warnings.Texts(), lost) {
		t.Errorf("%d messages after %d, warnings %q", len(n.receiver.Messages()), sent, report.Warnings)
	}
}

// TestARunFinishesADeletion that was killed at each of its calls.
func TestARunFinishesADeletion(t *testing.T) {
	t.Parallel()
	for at := 1; ; at++ {
		n := newNotified(t)
		p := &faults.Process{Fault: faults.Fault{At: at, After: at%2 == 0}}
		_, _ = reconciletest.Possess(n.world(), p).Notifications().Delete(context.Background(), n.declared)
		n.reconcile()
		state, err := n.world().Notifications().View(context.Background(), n.declared)
		if err != nil || state.Deleting || !state.Recorded && !state.Destroyed {
			t.Fatalf("killed at %d of %q: %+v, %v", at, p.Trace(), state, err)
		}
		if state.Destroyed {
			for _, kind := range []store.Kind{store.Notifications, store.Deliveries} {
				if docs, err := n.Store().List(context.Background(), kind); err != nil || len(docs) > 0 {
					t.Errorf("killed at %d of %q, %d %s are left, %v", at, p.Trace(), len(docs), kind, err)
				}
			}
		}
		if !p.Dead() {
			return
		}
	}
}
