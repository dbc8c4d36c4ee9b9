package cli_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/notify/notifytest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/notifications"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
)

// notificationsFor is the flag of make notifications. Without it, a trial only shows that it works.
var notificationsFor = flag.Duration("notifications-trial", 8*time.Second, "for how long servers that send notifications are killed")

const (
	webhookSecret = "a-secret-of-the-webhook"
	// changeEvery is how often an operator changes a notification, which then does not wait for its next attempt.
	changeEvery = 3 * time.Second
)

// notifyTrial is a trial with a receiver of each notification.
type notifyTrial struct {
	*trial
	names     []string
	receivers map[string]*receiver
	calm      atomic.Bool // no receiver fails
}

// receiver is a notification with the server that receives its messages.
type receiver struct {
	*notifytest.Server
	declared notification.Declaration
	since    time.Time
	faults   atomic.Int64
}

func newNotifyTrial(t *testing.T) *notifyTrial {
	t.Helper()
	n := &notifyTrial{trial: newTrial(t, *notificationsFor), receivers: map[string]*receiver{}}
	n.held = 1 // the others are reconciled
	kinds := []history.Kind{history.Grant, history.Hold, history.Reclaim, history.Lost, history.Launch, history.Begin}
	for _, d := range []notification.Declaration{
		{Name: "slack", Type: notification.Slack, URLVersion: 1, Events: kinds},
		{Name: "wecom", Type: notification.WeCom, URLVersion: 1, Events: kinds, Objects: []string{"spot_pool/*/*", "budget/*"}},
		// Each event is a request of its own, and the failure of one delays all: there are fewer.
		{Name: "webhook", Type: notification.Webhook, URLVersion: 1, Secret: webhookSecret, SecretVersion: 1, Events: kinds, Objects: []string{"budget/*"}},
		{Name: "pagerduty", Type: notification.PagerDuty, URLVersion: 1, Secret: notifytest.RoutingKey, SecretVersion: 1,
			Events: []history.Kind{history.Hold, history.Reclaim, history.Lost, history.Failed}, Objects: []string{"spot_pool/*/*"}},
	} {
		of := &receiver{Server: notifytest.New(t, d.Type)}
		of.NextFault = func() notifytest.Fault { return n.fault(of) }
		if d.Type == notification.Webhook {
			of.Secret = d.Secret
		}
		d.URL = of.URL
		n.receivers[d.Name], n.names = of, append(n.names, d.Name)
		created, err := n.process().Notifications().Create(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		of.declared, of.since = created.Declaration, created.Journal.Since
	}
	return n
}

// fault returns what happens to a request. A message to a chat is one request, and other messages are several.
func (n *notifyTrial) fault(of *receiver) notifytest.Fault {
	if n.calm.Load() {
		return notifytest.Fault{}
	}
	rate := 4
	if of.Type.Idempotent() {
		rate = 1
	}
	delay := time.Duration(rand.IntN(250*rate)) * time.Millisecond //nolint:gosec // a test
	of.faults.Add(1)
	switch p := rand.IntN(100); { //nolint:gosec // a test
	case p < 2*rate:
		return notifytest.Fault{Record: true, Delay: delay, Cut: true}
	case p < 3*rate:
		return notifytest.Fault{Cut: true}
	case p < 4*rate:
		return notifytest.Fault{Record: true, Status: 502, Body: "<html>Bad Gateway</html>"}
	case p < 5*rate:
		return notifytest.Fault{Status: 429, Header: map[string]string{"Retry-After": "1"}}
	case p < 9*rate:
		return notifytest.Fault{Record: true, Delay: delay}
	case p < 13*rate:
		return notifytest.Fault{Delay: delay}
	}
	of.faults.Add(-1)
	return notifytest.Fault{}
}

// disturb reclaims instances, fails calls, and changes notifications.
func (n *notifyTrial) disturb() {
	for k := 0; !n.over(); k++ {
		time.Sleep(time.Second)
		if k%3 == 0 {
			pool := 1 + rand.IntN(trialPools-1)                                                     //nolint:gosec // a test
			_, _ = n.sim.Server.Reclaim(cvmsim.ReclaimRequest{Pool: fmt.Sprintf("train-%d", pool)}) // it may have no instance now
		}
		if k%20 == 10 {
			n.world.fault(cvmsim.Fault{Kind: cvmsim.FaultError, Action: "DescribeInstances", Code: "UnauthorizedOperation", Message: "Not today."})
		}
		if time.Duration(k)*time.Second%changeEvery == 0 {
			n.change(n.names[k%len(n.names)], 1+k%1000)
		}
	}
}

// change changes nothing that a message depends on.
func (n *notifyTrial) change(name string, threshold int) {
	of := n.receivers[name]
	d := of.declared
	d.Thresholds = []int{threshold}
	state, err := n.process().Notifications().Update(context.Background(), d)
	if err != nil {
		n.t.Error(err)
		return
	}
	of.declared = state.Declaration
}

// TestNotificationsSurviveKilledServers kills two servers and a cron job at random, while receivers of
// notifications fail. Each selected event arrives, and none twice without a mark.
func TestNotificationsSurviveKilledServers(t *testing.T) {
	t.Parallel()
	n := newNotifyTrial(t)
	var all sync.WaitGroup
	for server := range trialServers {
		all.Go(func() { n.serve(server) })
	}
	all.Go(n.cron)
	all.Go(n.disturb)
	submitted := make(chan struct{})
	ends := n.deadline.Add(-2 * time.Second)
	go func() {
		defer close(submitted)
		for k := 0; time.Now().Before(ends); k++ {
			n.submit(k)
			time.Sleep(time.Second)
		}
	}()
	all.Wait()
	n.calm.Store(true)
	n.finish(submitted)
	n.deliver()
	events := n.history()
	t.Logf("%d kills, %d events in the history, %d jobs", n.kills, len(events), len(n.jobs))
	for _, name := range n.names {
		n.receivers[name].verify(t, events)
	}
	secrets := []string{notifytest.Key, notifytest.RoutingKey, webhookSecret}
	for _, r := range n.receivers {
		secrets = append(secrets, strings.TrimPrefix(r.URL, "http://"))
	}
	n.findSecrets(t, secrets)
}

// deliver reconciles until nothing is pending.
func (n *notifyTrial) deliver() {
	for k, name := range n.names {
		n.change(name, 900+k)
	}
	deadline := time.Now().Add(3 * time.Minute)
	for {
		n.start("reconcile").exitCode(n.t) // of budgets without a cluster
		var list struct {
			Notifications []notifications.Description `json:"notifications"`
		}
		p := n.start("notify", "-o", "json")
		if code := p.exitCode(n.t); code != 0 {
			n.t.Fatalf("notify ended with %d: %s", code, p.stderr())
		}
		if err := json.Unmarshal([]byte(p.stdout()), &list); err != nil {
			n.t.Fatal(err)
		}
		if !slices.ContainsFunc(list.Notifications, func(d notifications.Description) bool { return d.Pending > 0 || d.State != state.InSync }) {
			for _, d := range list.Notifications {
				n.t.Logf("%s: %d messages delivered, %d attempts failed", d.Name, d.Delivered, d.Failed)
			}
			return
		}
		if time.Now().After(deadline) {
			n.t.Fatalf("not all is delivered: %s", p.stdout())
		}
		time.Sleep(time.Second)
	}
}

func (n *notifyTrial) history() []history.Event {
	var report eventlog.Report
	p := n.start("history", "-o", "json")
	if code := p.exitCode(n.t); code != 0 {
		n.t.Fatalf("history ended with %d: %s", code, p.stderr())
	}
	if err := json.Unmarshal([]byte(p.stdout()), &report); err != nil {
		n.t.Fatal(err)
	}
	return report.Events
}

// verify checks that each event arrived, and none twice unless the receiver can recognize it.
func (r *receiver) verify(t *testing.T, events []history.Event) {
	t.Helper()
	var selected []history.Event
	for _, e := range events {
		if r.declared.Selects(&e) && !e.At.Before(r.since) {
			selected = append(selected, e)
		}
	}
	var got tally
	if r.Type.Idempotent() {
		got = tallyIDs(r.Arrivals(), selected)
	} else {
		got = tallyTexts(r.Arrivals(), selected)
	}
	t.Logf("%s: %d events, %d requests, %d of them with a fault", r.Type, len(selected), r.Requests(), r.faults.Load())
	t.Logf("%s: %d messages arrived, %d of them repeated, %d events only counted; %d duplicates, %d lost", r.Type, len(r.Arrivals()), got.repeated,
		got.counted, len(got.duplicates), len(got.lost))
	if len(got.duplicates) > 0 || len(got.lost) > 0 || len(selected) == 0 && *notificationsFor >= time.Minute {
		t.Errorf("%s: duplicates: %q\nlost: %q", r.Type, got.duplicates, got.lost)
	}
	for _, a := range r.Alerts() {
		if strings.HasSuffix(a.Key, "/"+string(history.Failed)) {
			t.Errorf("%s: %s still fires: %s", r.Type, a.Key, a.Summary)
		}
	}
}

// tally compares what arrived with what was selected.
type tally struct {
	repeated         int
	counted          int // events without a line
	duplicates, lost []string
}

// tallyIDs compares IDs. Of a lasting failure, the first event is enough. Events without room are counted.
func tallyIDs(arrivals []notifytest.Arrival, selected []history.Event) (c tally) {
	arrived, more := map[string]string{}, map[string]int{}
	for _, a := range arrivals {
		id, count := a.IDs[len(a.IDs)-1], 0
		if _, err := fmt.Sscanf(a.Text, "events left out: %d", &count); err == nil {
			more[id] = count
			continue
		}
		if text, repeats := arrived[id]; repeats && text == a.Text {
			c.repeated++
		} else if repeats {
			c.duplicates = append(c.duplicates, id+": "+a.Text)
		}
		arrived[id] = a.Text
	}
	failed := map[string]bool{}
	for _, e := range selected {
		if _, has := arrived[e.ID]; !has && !(e.Kind.Trouble() && failed[e.Object]) {
			c.lost = append(c.lost, e.ID+" "+string(e.Kind)+" of "+e.Object)
		}
		failed[e.Object] = failed[e.Object] || e.Kind.Trouble()
	}
	for _, count := range more {
		c.counted += count
	}
	c.lost = c.lost[min(c.counted, len(c.lost)):]
	return c
}
