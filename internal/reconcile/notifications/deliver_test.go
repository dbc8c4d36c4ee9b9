package notifications_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/notifications"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

// receivers respond at once, unless their name says that they hang.
type receivers struct {
	mu      sync.Mutex
	arrived []string
	longest time.Duration
}

func (r *receivers) Send(ctx context.Context, d notification.Declaration, _ notification.Message) error {
	began := time.Now()
	if strings.HasPrefix(d.Name, "hangs") {
		<-ctx.Done()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.longest = max(r.longest, time.Since(began))
	if err := ctx.Err(); err != nil {
		return &notification.Failure{Reason: reason.NoResponse(), Uncertain: true}
	}
	r.arrived = append(r.arrived, d.Name)
	return nil
}

func newFlow(t *testing.T, to *receivers, now *time.Time) *notifications.Flow {
	t.Helper()
	store, err := directory.Open(t.TempDir()+"/store", directory.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return *now }
	return &notifications.Flow{Sender: to, Clock: clock, Repository: record.Repository{Store: store, Actor: "test", Clock: clock}}
}

// deliver claims an event, and delivers it.
func deliver(t *testing.T, flow *notifications.Flow, e history.Event) (reports []notifications.Report, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		run := &notifications.Run{Flow: flow, Warn: func(...reason.Reason) {}}
		run.Claim(t.Context(), notifications.Claiming{
			Found: []history.Event{e}, Last: func(context.Context) declaration.RunSummary { return declaration.RunSummary{} },
		})
		reports, took = run.Deliver(t.Context()), time.Since(began)
	})
	return reports, took
}

// TestHangingReceiversDelayNoRunForLong has more of them than a run reaches. Later runs reach the others.
func TestHangingReceiversDelayNoRunForLong(t *testing.T) {
	t.Parallel()
	to, now := &receivers{}, time.Date(2030, 1, 7, 9, 0, 0, 0, time.UTC)
	flow := newFlow(t, to, &now)
	for n := range 24 {
		name := fmt.Sprintf("%s-%d", []string{"hangs", "hangs", "works"}[n%3], n)
		if _, err := flow.Create(t.Context(), notification.Declaration{
			Name: name, Type: notification.Slack, URL: "https://hooks.example.com/" + name, URLVersion: 1,
		}); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(time.Minute)
	event := history.About{At: now, Object: "budget/team-a"}.Since(history.Exceeded, now)
	for runs := range 2 {
		reports, took := deliver(t, flow, event)
		if took > 21*time.Second || to.longest > 8*time.Second {
			t.Errorf("run %d delivers for %v, and one attempt takes %v", runs, took, to.longest)
		}
		for _, r := range reports {
			if hangs := strings.HasPrefix(r.Name, "hangs"); hangs != (r.Failure != nil) {
				t.Errorf("run %d reports %+v", runs, r)
			}
		}
		now = now.Add(10 * time.Second)
	}
	slices.Sort(to.arrived)
	if len(to.arrived) != 8 || len(slices.Compact(to.arrived)) != 8 {
		t.Errorf("messages arrived at %q, want one at each of eight", to.arrived)
	}
}

// TestAMessageDoesNotDelayTheEndOfARun by the pause that its receiver requires.
func TestAMessageDoesNotDelayTheEndOfARun(t *testing.T) {
	t.Parallel()
	to, now := &receivers{}, time.Date(2030, 1, 7, 9, 0, 0, 0, time.UTC)
	flow := newFlow(t, to, &now)
	for _, name := range []string{"a", "b"} {
		if _, err := flow.Create(t.Context(), notification.Declaration{
			Name: name, Type: notification.WeCom, URL: "https://robot.example.com", URLVersion: 1,
		}); err != nil {
			t.Fatal(err)
		}
	}
	event := history.About{At: now, Object: "budget/team-a"}.Since(history.Exceeded, now)
	if _, took := deliver(t, flow, event); len(to.arrived) != 2 || took != notification.WeCom.Interval() {
		t.Errorf("%d messages to one robot took %v, want %v", len(to.arrived), took, notification.WeCom.Interval())
	}
}
