package notification_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

var singapore = time.FixedZone("CST", 8*60*60) // an abbreviation that several zones have

// claimedIn returns the lines of events in a time zone.
func claimedIn(zone *time.Location, present notification.Present, events ...history.Event) []notification.Line {
	d := declared(notification.Slack)
	d.Events = history.Kinds()
	j, _ := notification.Claimer{Declaration: d, Zone: zone, Now: begin, Present: present}.Claim(notification.New(d, begin), events)
	return j.Pending
}

const permission = "Grant the permission cvm:RunInstances to the credentials."

// TestMessagesHaveTheErrorAndWhatToDo, each once, as the run printed it.
func TestMessagesHaveTheErrorAndWhatToDo(t *testing.T) {
	t.Parallel()
	const printed = "RunInstances: UnauthorizedOperation: not authorized. " + permission + " (RequestId r-1)"
	long := strings.Repeat("not authorized, ", 60)
	for name, tt := range map[string]struct {
		failure history.Error
		want    []string
		once    string
	}{
		"an error with all in its message": {
			history.Error{Code: "UnauthorizedOperation", Class: "authorization", Message: printed, RequestID: "r-1", Remedy: permission},
			[]string{"failed: " + printed}, permission,
		},
		"an error with all in its fields": {
			history.Error{Code: "UnauthorizedOperation", Message: "not authorized", RequestID: "r-1", Remedy: permission},
			[]string{"UnauthorizedOperation: not authorized (RequestId r-1). " + permission}, "UnauthorizedOperation",
		},
		"a long message": {
			history.Error{Code: "UnauthorizedOperation", Message: long, RequestID: "r-1", Remedy: permission},
			[]string{"UnauthorizedOperation: not authorized", "… (RequestId r-1). " + permission}, "r-1",
		},
		"an error of a cluster": {
			history.Error{Message: "pods is forbidden", Remedy: "Apply the manifests again."},
			[]string{"failed: pods is forbidden. Apply the manifests again."},
			"forbidden",
		},
		"an error without a remedy": {history.Error{Message: "no route"}, []string{"failed: no route"}, "route"},
	} {
		got := claimedIn(nil, nil, aboutTrain(0).Failed(tt.failure))[0].String()
		for _, want := range tt.want {
			if !strings.Contains(got, want) || strings.Count(got, tt.once) != 1 {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
	}
	refused := aboutTrain(0).Refused(history.Ask{Count: 1, Offering: history.Offering{InstanceType: "GN7.2XLARGE32", AvailabilityZone: "ap-singapore-2"}},
		history.Error{Code: "UnauthorizedOperation", Class: "authorization", Message: printed, RequestID: "r-1", Remedy: permission})
	if got := claimedIn(nil, nil, refused)[0].String(); !strings.Contains(got, "GN7.2XLARGE32 in ap-singapore-2; "+printed) {
		t.Errorf("a refusal is %q", got)
	}
}

// TestMessagesHaveTheNumbersAndTheForecast of a threshold, in the notification's time zone with its offset.
func TestMessagesHaveTheNumbersAndTheForecast(t *testing.T) {
	t.Parallel()
	about := history.About{At: begin, Object: "budget/team-a", Reasons: reason.Reasons{
		reason.Used("82", "100", 82), reason.UsedUpBy(3, "24", reason.Instant{Time: begin.Add(45 * time.Minute)}),
	}}
	for want, zone := range map[string]*time.Location{
		"17:45 +08:00": singapore, "09:45 UTC": nil, "15:15 +05:30": time.FixedZone("IST", 5*3600+1800), "04:45 -05:00": time.FixedZone("CST", -5*3600),
	} {
		l := claimedIn(zone, nil, about.Crossed(80, begin))[0]
		text := "82 of 100 GPU-hours are used (82%); 3 pods hold 24 GPUs now, which uses up the rest by 2030-01-07 " + want + "; alert threshold reached: 80%"
		if l.Text != text {
			t.Errorf("got %q, want %q", l.Text, text)
		}
		m := notification.Message{Lines: []notification.Line{l}, Zone: zone}
		if got := m.Text(1000, nil); !strings.Contains(got, strings.Fields(want)[1]+"  warning  budget/team-a: threshold: ") {
			t.Errorf("the message is %q", got)
		}
	}
}

// TestMessagesHaveEveryReason, not only the first one.
func TestMessagesHaveEveryReason(t *testing.T) {
	t.Parallel()
	pod := history.Identity{Namespace: "ml", Name: "train-1", UID: "u"}
	about := history.About{At: begin, Object: "budget/team-a", Reasons: reason.Reasons{
		reason.Used("120", "100", 120), reason.GraceEnded(reason.Duration(10*time.Minute), reason.Instant{Time: begin}),
	}}
	const why = "120 of 100 GPU-hours are used (120%); the grace period of 10m ended at 2030-01-07 17:00 +08:00"
	for want, e := range map[string]history.Event{
		"ml/train-1: requested; " + why: about.Evict(pod), why: about.Since(history.Exceeded, begin),
	} {
		if l := claimedIn(singapore, nil, e)[0]; l.Text != want {
			t.Errorf("the %s is %q, want %q", e.Kind, l.Text, want)
		}
	}
}

// TestConditionsHaveWhatTheRunFound, such as the end of the grace period, which the event lacks.
func TestConditionsHaveWhatTheRunFound(t *testing.T) {
	t.Parallel()
	about := history.About{At: begin, Object: "budget/team-a", Reasons: reason.Reasons{reason.Used("120", "100", 120)}}
	present := notification.Present{"budget/team-a/exceeded": {
		reason.Used("121", "100", 121), reason.GraceLasts(reason.Instant{Time: begin.Add(time.Hour)}, "freeze"),
	}, "budget/team-b/exceeded": {reason.Used("1", "1", 100)}}
	lines := claimedIn(singapore, present, about.Since(history.Exceeded, begin))
	const want = "121 of 100 GPU-hours are used (121%); its grace period lasts until 2030-01-07 18:00 +08:00, and then its enforcement is freeze"
	if len(lines) != 1 || lines[0].Text != want {
		t.Errorf("got %+v, want %q", lines, want)
	}
}

// TestLinesOfEarlierVersionsAreSent: a journal has lines from before they had remedies.
func TestLinesOfEarlierVersionsAreSent(t *testing.T) {
	t.Parallel()
	var j notification.Journal
	stored := `{"uid":"n1","notification":"ops","generation":1,"since":"2030-01-07T09:00:00Z","begun":true,"pending":[{"id":"e-1","at":"2030-01-07T09:00:00Z",` +
		`"kind":"failed","object":"budget/team-a","severity":"error","text":"AuthFailure (authorization)","condition":"budget/team-a/failed",` +
		`"claimed_at":"2030-01-07T09:00:00Z"}],"delivered":0,"failed":0}`
	if err := json.Unmarshal([]byte(stored), &j); err != nil {
		t.Fatal(err)
	}
	m, due := notification.Schedule{Declaration: declared(notification.Slack)}.Next(j, begin)
	const want = "2030-01-07 09:00 UTC  error  budget/team-a: failed: AuthFailure (authorization)"
	if text := m.Text(1000, nil); !due || !strings.HasSuffix(text, "\n"+want) {
		t.Errorf("due: %t, the message is %q", due, text)
	}
}
