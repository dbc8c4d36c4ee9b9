package serve_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve"
)

// TestFailingNotificationsAreFirst on the overview and in the report, with the remedy. They are not for a tenant.
func TestFailingNotificationsAreFirst(t *testing.T) {
	t.Parallel()
	d := teams(t)
	receiver := &reconciletest.Receiver{}
	world := func() reconcile.World {
		w := d.Process()
		w.Sender = receiver
		return w
	}
	for _, name := range []string{"ops", "quiet"} {
		n := notification.Declaration{Name: name, Type: notification.Slack, URL: "https://hooks.example.com/T/B/x", URLVersion: 1}
		if name == "quiet" {
			n.Events = []history.Kind{history.Loss}
		}
		if _, err := world().Notifications().Create(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	receiver.Err = &notification.Failure{Code: "HTTP 404", Reason: reason.URLGone(reason.Unexplained(`<b>no_team</b>`))}
	d.Cluster.Step(2 * time.Hour) // budgets are exceeded
	if _, err := world().Runner().Run(t.Context(), reconcile.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	h := handler(world(), users(t, newQueue()))
	overview := page(t, h, "/", "Authorization: Bearer admin")
	report, err := serve.Report(t.Context(), world(), words{}, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{overview, string(report)} {
		wantIn(t, shown, "1 Failing · 1 InSync", "HTTP 404: &lt;b&gt;no_team", "Create the URL again", "gpupool notify --test ops")
		wantNotIn(t, shown, "hooks.example.com", "<b>no_team", "notify --test quiet")
		if strings.Index(shown, "Notifications</h2>") > strings.Index(shown, "Budgets</h2>") {
			t.Error("the failing notification is below the budgets")
		}
	}
	wantNotIn(t, page(t, h, "/", "Authorization: Bearer reader"), "Notifications</h2>", "no_team")
	wantNotIn(t, page(t, h, "/teams/ml", "Authorization: Bearer admin"), "Notifications</h2>")
	if text := page(t, h, "/?q=quiet", "Authorization: Bearer admin"); strings.Contains(text, "no_team") {
		t.Errorf("the filter left out nothing: %s", text)
	}
}
