package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

const (
	pagerDutyURL     = "https://events.pagerduty.com/v2/enqueue"
	pagerDutySummary = 1024 // characters, of which each has at least one byte
	pagerDutyKey     = 255
)

// pagerDuty sends one event for each line: there is no request for several.
func pagerDuty(d delivery) ([]request, *notification.Failure) {
	to := d.URL
	if to == "" {
		to = pagerDutyURL
	}
	if d.message.Test {
		l := notification.Line{ID: d.message.ID, At: d.message.Attempted, Object: "notification/" + d.message.Notification, Severity: notification.Info}
		trigger := pagerDutyTrigger(d, l, d.message.Title())
		return []request{post(to, trigger), post(to, pagerDutyResolve(d, l))}, nil
	}
	var requests []request
	for _, l := range d.message.Lines {
		if l.Resolved {
			requests = append(requests, post(to, pagerDutyResolve(d, l)))
		} else {
			requests = append(requests, post(to, pagerDutyTrigger(d, l, l.String())))
		}
	}
	if l, some := leftOut(d.message); some { // it is no condition that a later event resolves
		requests = append(requests, post(to, pagerDutyTrigger(d, l, l.Text)), post(to, pagerDutyResolve(d, l)))
	}
	return requests, nil
}

func pagerDutyTrigger(d delivery, l notification.Line, summary string) map[string]any {
	event := pagerDutyResolve(d, l)
	event["event_action"] = "trigger"
	event["client"] = "gpupool"
	event["payload"] = map[string]any{
		"summary": notification.Cut(summary, pagerDutySummary), "source": l.Object, "severity": l.Severity,
		"timestamp": l.At.UTC().Format(time.RFC3339), "class": l.Kind,
		"custom_details": map[string]any{
			"event_id": l.ID, "object": l.Object, "kind": l.Kind, "text": l.Text, "remedy": l.Remedy, "notification": d.message.Notification,
		},
	}
	if link := webAddress(d.message.Link(l)); link != "" {
		event["client_url"] = link
		event["links"] = []any{map[string]string{"href": link, "text": "gpupool"}}
	}
	return event
}

func pagerDutyResolve(d delivery, l notification.Line) map[string]any {
	key := l.Condition
	if key == "" {
		key = l.ID
	}
	if len(key) > pagerDutyKey {
		sum := sha256.Sum256([]byte(key))
		key = hex.EncodeToString(sum[:])
	}
	return map[string]any{"routing_key": d.Secret, "event_action": "resolve", "dedup_key": key}
}

// wrongKey finds that PagerDuty refuses the key, and nothing else of an event.
var wrongKey = regexp.MustCompile(`(?i)\b(routing|service|integration)[_ ]key\b`)

func judgePagerDuty(r response) *notification.Failure {
	var result struct {
		Status, Message string
		Errors          []string
	}
	readable := r.problem.IsZero() && json.Unmarshal(r.body, &result) == nil
	switch {
	case r.status == http.StatusAccepted && readable && result.Status == "success":
		return nil
	case r.status == http.StatusTooManyRequests:
		f := r.unexpected()
		f.RetryAfter = max(f.RetryAfter, 2*time.Minute)
		return f
	case !readable || result.Status == "" || r.status < 400 || r.status >= 500:
		return r.unexpected()
	}
	message := result.Message
	if len(result.Errors) > 0 {
		message += ": " + strings.Join(result.Errors, "; ")
	}
	var means refusal
	switch {
	case result.Status != "invalid event":
	case wrongKey.MatchString(message):
		means.because = reason.PagerDutyKey
	default:
		means.because = reason.PagerDutyForm
	}
	return r.refuse(result.Status, said(message), means)
}
