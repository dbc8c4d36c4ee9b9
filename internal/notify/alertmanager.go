package notify

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

const (
	alertsPath   = "/api/v2/alerts"
	testLifetime = time.Minute
)

type alert struct {
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt"`
	GeneratorURL string            `json:"generatorURL,omitempty"`
}

// alertmanager sends the lasting conditions and the lines in one request, in the order of their time.
func alertmanager(d delivery) ([]request, *notification.Failure) {
	u, err := url.Parse(d.URL)
	if err != nil {
		return nil, invalidURL()
	}
	if u.Path = strings.TrimSuffix(u.Path, "/"); !strings.HasSuffix(u.Path, alertsPath) {
		u = u.JoinPath(alertsPath)
	}
	alerts := []alert{}
	for _, l := range append(d.message.Open, d.message.Lines...) {
		alerts = append(alerts, alertOf(d, l))
	}
	if l, some := leftOut(d.message); some {
		a := alertOf(d, l)
		a.Labels["alertname"], a.Annotations["summary"] = "GpupoolEventsLeftOut", l.Text
		delete(a.Labels, "kind")
		delete(a.Annotations, "description")
		a.Labels["severity"] = string(l.Severity)
		alerts = append(alerts, a)
	}
	if m := d.message; m.Test {
		alerts = append(alerts, alert{
			Labels: map[string]string{
				"alertname": "GpupoolTest", "service": "gpupool", "object": "notification/" + m.Notification, "severity": string(notification.Info),
			},
			Annotations: map[string]string{"summary": m.Title()},
			StartsAt:    m.Attempted, EndsAt: m.Attempted.Add(testLifetime), GeneratorURL: webAddress(m.PageURL),
		})
	}
	r := post(u.String(), alerts)
	if d.Secret != "" {
		r.header["Authorization"] = "Bearer " + d.Secret
	}
	return []request{r}, nil
}

// alertOf returns the alert of a line. Its labels are those of the event that began the condition,
// since labels identify an alert. It fires until endsAt, unless a later message moves that.
func alertOf(d delivery, l notification.Line) alert {
	kind, instance := string(l.Kind), ""
	if rest, lasting := strings.CutPrefix(l.Condition, l.Object+"/"); lasting {
		kind, instance, _ = strings.Cut(rest, "/")
	}
	a := alert{
		Labels: map[string]string{
			"alertname": "Gpupool" + camelCase(kind), "service": "gpupool", "object": l.Object, "kind": kind,
			"severity": string(notification.SeverityOf(history.Kind(kind))),
		},
		Annotations: map[string]string{"summary": l.String(), "event_id": l.ID},
		StartsAt:    l.At, EndsAt: d.message.Attempted.Add(notification.EventLifetime), GeneratorURL: webAddress(d.message.Link(l)),
	}
	for name, text := range map[string]string{"description": l.Text, "remedy": l.Remedy} {
		if text != "" {
			a.Annotations[name] = text
		}
	}
	if instance != "" {
		a.Labels["instance"] = instance
	}
	switch {
	case l.Resolved:
		a.EndsAt = l.At
		if now := d.message.Attempted; now.Before(l.At) { // by another clock
			a.StartsAt, a.EndsAt = now, now
		}
	case l.Condition != "":
		a.EndsAt = d.message.Attempted.Add(max(d.message.Lifetime, notification.EventLifetime))
	}
	return a
}

func camelCase(kind string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(kind, "_") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// judgeAlertmanager expects an empty body: a proxy's page of login is not a success.
func judgeAlertmanager(r response) *notification.Failure {
	if r.status == http.StatusOK && r.problem.IsZero() && len(r.body) == 0 {
		return nil
	}
	var message string
	if r.status != http.StatusBadRequest || !r.problem.IsZero() || json.Unmarshal(r.body, &message) != nil || message == "" {
		return r.unexpected()
	}
	return r.refuse("HTTP 400", said(message), refusal{because: reason.AlertmanagerVersion})
}
