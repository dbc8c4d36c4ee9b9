package serve_test

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

// chat receives the messages of a notification of all events.
type chat struct {
	reconciletest.Receiver
	t *testing.T
}

// declare declares the notification. A webhook has no pause between messages.
func (c *chat) declare(w reconcile.World) {
	c.t.Helper()
	_, err := w.Notifications().Create(context.Background(), notification.Declaration{
		Name: "ops", Type: notification.Webhook, URL: "https://chat.example.com/hook", URLVersion: 1, Events: history.Kinds(),
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// linesOf are the lines about an object.
func (c *chat) linesOf(object string) []notification.Line {
	var lines []notification.Line
	for _, m := range c.Messages() {
		lines = append(lines, m.Lines...)
	}
	return slices.DeleteFunc(lines, func(l notification.Line) bool { return l.Object != object })
}

var (
	usageText  = regexp.MustCompile(`([0-9.]+) of ([0-9.]+) GPU-hours are used \(([0-9]+)%\)(?: since ([0-9: -]+ UTC))?`)
	launchText = regexp.MustCompile(`: launch: ([0-9]+) spot`)
	scaleText  = regexp.MustCompile(`: scale: from [0-9]+ to ([0-9]+) pods`)
)

// verify compares the numbers of messages with those of a status at the same moment, after a run.
func (c *chat) verify(r *rapid.T, w reconcile.World) {
	status, err := w.Runner().Status(context.Background())
	if err != nil {
		r.Fatal(err)
	}
	messages := c.Messages()
	if n := status.Notifications; len(n) != 1 || n[0].Delivered != int64(len(messages)) || n[0].Pending != 0 || n[0].Failed != 0 {
		r.Fatalf("%d messages arrived, and status has %+v", len(messages), n)
	}
	for _, b := range status.Budgets {
		c.verifyBudget(r, b)
	}
	for _, p := range status.SpotPools {
		if launched := c.sum(p.Summary().Object(), launchText); launched != p.Total {
			r.Fatalf("messages launch %d instances of %s, and status has %d", launched, p.Name, p.Total)
		}
	}
	for _, p := range status.StockPools {
		lines := c.linesOf(p.Summary().Object())
		if slices.ContainsFunc(lines, func(l notification.Line) bool { return l.Kind == history.Pause }) { // it reports no scale
			continue
		}
		replicas := p.Replicas // an apply that creates it reports no scale
		for _, l := range lines {
			if found := scaleText.FindStringSubmatch(l.String()); found != nil {
				replicas = int(number(c.t, found[1]))
			}
		}
		if replicas != p.Replicas {
			r.Fatalf("messages scale %s to %d pods, and status has %d", p.Name, replicas, p.Replicas)
		}
	}
}

func (c *chat) sum(object string, text *regexp.Regexp) (sum int) {
	for _, l := range c.linesOf(object) {
		if found := text.FindStringSubmatch(l.String()); found != nil {
			sum += int(number(c.t, found[1]))
		}
	}
	return sum
}

func (c *chat) verifyBudget(r *rapid.T, b budgets.Description) {
	u := b.UsageReport
	if u == nil || u.LimitGPUHours == nil {
		return
	}
	exceeded := false
	for _, l := range c.linesOf("budget/" + b.Name) {
		switch l.Kind {
		case history.Exceeded, history.Recovered:
			if exceeded = l.Kind == history.Exceeded; !usageText.MatchString(l.String()) {
				r.Fatalf("a message has no usage: %q", l)
			}
		case history.Threshold:
			c.verifyThreshold(r, l, b)
		}
		c.verifyUsage(r, l, u)
	}
	if exceeded != *u.Exceeded {
		r.Fatalf("of %s, messages have exceeded %t, and status %t", b.Name, exceeded, *u.Exceeded)
	}
}

// verifyThreshold compares an alert threshold with the usage, if it was reached at this moment.
func (c *chat) verifyThreshold(r *rapid.T, l notification.Line, b budgets.Description) {
	reached := func(percent int) bool {
		return strings.HasSuffix(l.String(), ": "+decimal(percent)+"%") && int64(percent) <= *b.UsedPercent
	}
	if l.At.Equal(b.AsOf.Truncate(time.Second)) && !slices.ContainsFunc(b.Fired, reached) {
		r.Fatalf("a message has %q, and status %d%% and the thresholds %v", l, *b.UsedPercent, b.Fired)
	}
}

// verifyUsage compares the usage in a line, if it is of the moment at which the budget was measured.
func (c *chat) verifyUsage(r *rapid.T, l notification.Line, u *budgets.UsageReport) {
	found := usageText.FindStringSubmatch(l.String())
	if found == nil || !l.At.Equal(u.AsOf.Truncate(time.Second)) {
		return
	}
	wrong := found[1] != u.ConsumedGPUHours || found[2] != *u.LimitGPUHours || found[3] != decimal(*u.UsedPercent)
	if l.Kind == history.Exceeded {
		wrong = wrong || found[4] != u.ExceededSince.UTC().Format("2006-01-02 15:04 MST")
	}
	if wrong {
		r.Fatalf("a message has %q, and status %s of %s GPU-hours (%d%%), exceeded since %v", l, u.ConsumedGPUHours, *u.LimitGPUHours, *u.UsedPercent,
			u.ExceededSince)
	}
}

func decimal[N int | int64](n N) string { return strconv.FormatInt(int64(n), 10) }
