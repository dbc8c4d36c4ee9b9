package declaration_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
)

// notificationAttributes are the attributes of the resource, as a state has them.
const notificationAttributes = `{
	"name": "ops", "uid": "aaaa1a52f0e94d3c8a6b0d1e2f3a4b5c", "generation": 2, "type": "slack", "url_wo": null, "url_wo_version": 3,
	"secret_wo": null, "secret_wo_version": null, "events": ["exceeded"], "objects": null, "thresholds": [80],
	"digest": "15m", "quiet_hours": {"start": "22:00", "end": "07:00"}, "time_zone": null, "page_url": null, "timeouts": null
}`

func TestNotificationsFromState(t *testing.T) {
	t.Parallel()
	shown := `{"format_version":"1.0","values":{"root_module":{"resources":[{"address":"gpupool_notification.ops","mode":"managed",
		"type":"gpupool_notification","name":"ops","provider_name":"registry.terraform.io/gpupool/gpupool","schema_version":0,"values":` +
		notificationAttributes + `}]}}}`
	state := fromState(t, []byte(shown))
	want := []declaration.StateNotification{{Address: "gpupool_notification.ops", Declaration: notification.Declaration{
		Name: "ops", UID: "aaaa1a52f0e94d3c8a6b0d1e2f3a4b5c", Generation: 2, Type: notification.Slack, URLVersion: 3,
		Events: []history.Kind{history.Exceeded}, Thresholds: []int{80}, Digest: "15m", QuietHours: &notification.QuietHours{Start: "22:00", End: "07:00"},
	}}}
	if diff := cmp.Diff(want, state.Notifications); diff != "" || len(state.Warnings) > 0 {
		t.Errorf("%q (-want +got)\n%s", state.Warnings, diff)
	}
	broken := strings.Replace(shown, "[80]", `"80"`, 1)
	if state = fromState(t, []byte(broken)); len(state.Notifications) != 1 || state.Notifications[0].Unread == nil ||
		state.Notifications[0].Declaration.Key() != "ops" {
		t.Errorf("an unreadable one is %+v", state)
	}
	if _, err := declaration.FromState(strings.NewReader(strings.Replace(shown, `"uid": "aaaa1a52f0e94d3c8a6b0d1e2f3a4b5c"`, `"uid": ""`, 1))); err == nil ||
		!strings.Contains(err.Error(), "import the notification again") {
		t.Errorf("without a UID: %v", err)
	}
}

// A damaged journal would report events twice, or lose them.
func TestDeliveriesAreValidated(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	line := notification.Line{ID: "e-1", Kind: history.Exceeded, Object: "budget/team-a", At: at, ClaimedAt: at}
	good := notification.Journal{
		UID: "u", Notification: "ops", Since: at, Pending: []notification.Line{line},
		Sending: &notification.Sending{ID: "m", Lines: []string{"e-1"}, AttemptedAt: at},
	}
	for want, change := range map[string]func(*notification.Journal){
		"":                                   func(*notification.Journal) {},
		"it has no uid":                      func(j *notification.Journal) { j.UID = "" },
		"it does not say since when":         func(j *notification.Journal) { j.Since = time.Time{} },
		"an event: it has no object":         func(j *notification.Journal) { j.Pending = []notification.Line{{ID: "e-1", Kind: history.Exceeded}} },
		"the message under way has no event": func(j *notification.Journal) { j.Pending = nil },
	} {
		j := good
		change(&j)
		_, err := declaration.Encode(j)
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.Contains(got, want) {
			t.Errorf("want %q, got %s", want, got)
		}
	}
}
