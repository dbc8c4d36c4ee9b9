package notify_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/notify/notifytest"
)

func TestAlertFiresOnceAndIsResolved(t *testing.T) {
	t.Parallel()
	for _, kind := range []notification.Type{notification.PagerDuty, notification.Alertmanager} {
		server, d, sender, now := receiver(t, kind)
		for range 3 {
			if err := sender.Send(t.Context(), d, message(exceeded())); err != nil {
				t.Fatal(err)
			}
		}
		alerts := server.Alerts()
		if len(alerts) != 1 || alerts[0].Severity != "critical" || alerts[0].Triggers != 3 {
			t.Fatalf("%s: the alerts are %+v, want one of three requests", kind, alerts)
		}
		now.at = start.Add(5 * time.Minute)
		recovered := line("e-2", history.Recovered, "budget/team-a", "80 of 100 GPU-hours are used")
		recovered.At = now.at
		if err := sender.Send(t.Context(), d, message(recovered)); err != nil {
			t.Fatal(err)
		}
		if alerts := server.Alerts(); len(alerts) > 0 {
			t.Errorf("%s: after the recovery, the alerts are %+v", kind, alerts)
		}
	}
}

func TestConditionsOfInstancesAreSeparate(t *testing.T) {
	t.Parallel()
	for _, kind := range []notification.Type{notification.PagerDuty, notification.Alertmanager} {
		server, d, sender, _ := receiver(t, kind)
		var lines []notification.Line
		for _, instance := range []string{"ins-1", "ins-2"} {
			l := line("e-"+instance, history.Notice, "spot_pool/a", "")
			l.Condition = "spot_pool/a/notice/" + instance
			lines = append(lines, l)
		}
		if err := sender.Send(t.Context(), d, message(lines...)); err != nil {
			t.Fatal(err)
		}
		if alerts := server.Alerts(); len(alerts) != 2 {
			t.Errorf("%s: the alerts are %+v, want two", kind, alerts)
		}
	}
}

// Alertmanager forgets an alert that is not repeated.
func TestOpenConditionsKeepFiring(t *testing.T) {
	t.Parallel()
	server, d, sender, now := receiver(t, notification.Alertmanager)
	m := message(exceeded())
	m.Lifetime = 3 * time.Hour
	for range 10 {
		m.Attempted = now.at
		if err := sender.Send(t.Context(), d, m); err != nil {
			t.Fatal(err)
		}
		m.Lines, m.Open = nil, []notification.Line{exceeded()}
		now.at = now.at.Add(m.Lifetime - time.Second)
		if alerts := server.Alerts(); len(alerts) != 1 || !alerts[0].StartsAt.Equal(start) {
			t.Fatalf("at %s, the alerts are %+v", now.at, alerts)
		}
	}
	now.at = now.at.Add(2 * time.Second)
	if alerts := server.Alerts(); len(alerts) > 0 {
		t.Errorf("without a repetition, the alerts are %+v", alerts)
	}
}

// Alertmanager ignores an end that is later than its own clock.
func TestEndOfAConditionIsRepeated(t *testing.T) {
	t.Parallel()
	server, d, sender, now := receiver(t, notification.Alertmanager)
	m := message(exceeded())
	m.Lifetime = 3 * time.Hour
	end := line("e-2", history.Recovered, "budget/team-a", "")
	end.At = start.Add(time.Hour)
	now.at = end.At.Add(-time.Minute) // it is late
	for _, of := range []notification.Message{m, message(end)} {
		of.Attempted = end.At
		if err := sender.Send(t.Context(), d, of); err != nil {
			t.Fatal(err)
		}
	}
	if alerts := server.Alerts(); len(alerts) != 1 {
		t.Fatalf("an end that is later than the clock ends the alert: %+v", alerts)
	}
	now.at = end.At.Add(time.Minute)
	m = message()
	m.Attempted, m.Open = end.At.Add(40*time.Second), []notification.Line{end}
	if err := sender.Send(t.Context(), d, m); err != nil || len(server.Alerts()) > 0 {
		t.Errorf("after the repeated end, the alerts are %+v, %v", server.Alerts(), err)
	}
}

func TestAlertsOfEventsEndSoon(t *testing.T) {
	t.Parallel()
	server, d, sender, now := receiver(t, notification.Alertmanager)
	m := message(line("e-1", history.Threshold, "budget/team-a", "80%"))
	m.Lifetime = 3 * time.Hour
	if err := sender.Send(t.Context(), d, m); err != nil || len(server.Alerts()) != 1 {
		t.Fatalf("the alerts are %+v, %v", server.Alerts(), err)
	}
	now.at = start.Add(notification.EventLifetime + time.Second)
	if alerts := server.Alerts(); len(alerts) > 0 {
		t.Errorf("the alerts are %+v", alerts)
	}
}

func TestAlertmanagerURL(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "/", "/prometheus", "/api/v2/alerts", "/api/v2/alerts/", "/tenant/api/v2/alerts?org=1"} {
		server, d, sender, _ := receiver(t, notification.Alertmanager)
		d.URL += path
		if err := sender.Send(t.Context(), d, message(exceeded())); err != nil || len(server.Arrivals()) != 1 {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestPagerDutyKeysAndSummariesFit(t *testing.T) {
	t.Parallel()
	server, d, sender, _ := receiver(t, notification.PagerDuty)
	long := line("e-1", history.Exceeded, "budget/"+strings.Repeat("甲", 300), strings.Repeat("乙", 3000))
	if err := sender.Send(t.Context(), d, message(long)); err != nil {
		t.Fatal(err)
	}
	end := line("e-2", history.Recovered, "budget/"+strings.Repeat("甲", 300), "")
	if err := sender.Send(t.Context(), d, message(end)); err != nil {
		t.Fatal(err)
	}
	if alerts := server.Alerts(); len(alerts) > 0 {
		t.Errorf("the alert of a long name is not resolved: %+v", alerts)
	}
}

func TestPagerDutyStopsAtTheFirstFailure(t *testing.T) {
	t.Parallel()
	server, d, sender, _ := receiver(t, notification.PagerDuty)
	server.Fail(notifytest.Fault{Record: true}, notifytest.Fault{Status: 429})
	lines := []notification.Line{
		line("e-1", history.Loss, "spot_pool/a", ""), line("e-2", history.Loss, "spot_pool/b", ""), line("e-3", history.Loss, "spot_pool/c", ""),
	}
	f := failure(t, sender.Send(t.Context(), d, message(lines...)))
	if f.RetryAfter != 2*time.Minute || server.Requests() != 2 {
		t.Errorf("the failure is %+v after %d requests", *f, server.Requests())
	}
	if err := sender.Send(t.Context(), d, message(lines...)); err != nil {
		t.Fatal(err)
	}
	if alerts := server.Alerts(); len(alerts) != 3 {
		t.Errorf("the alerts are %+v", alerts)
	}
}

func TestWebhookRepeatsTheIDs(t *testing.T) {
	t.Parallel()
	server, d, sender, now := receiver(t, notification.Webhook)
	m := message(exceeded(), line("e.2", history.Failed, "spot_pool/a", "quota"))
	for n := range 2 {
		m.Repeated = n > 0
		if err := sender.Send(t.Context(), d, m); err != nil {
			t.Fatal(err)
		}
		now.at = now.at.Add(time.Hour)
	}
	var ids, headers []string
	for _, a := range server.Arrivals() {
		ids = append(ids, a.IDs...)
		headers = append(headers, a.Header.Get("webhook-id"))
	}
	if want := []string{"e-1", "e.2", "e-1", "e.2"}; !slices.Equal(ids, want) {
		t.Errorf("the IDs are %q, want %q", ids, want)
	}
	if want := []string{"e-1", "e_2", "e-1", "e_2"}; !slices.Equal(headers, want) {
		t.Errorf("the header webhook-id is %q, want %q", headers, want)
	}
	var event struct {
		Type, Subject string
		Data          notification.Line
	}
	if err := json.Unmarshal(server.Arrivals()[0].Body, &event); err != nil {
		t.Fatal(err)
	}
	if event.Type != "dev.gpupool.event.exceeded" || event.Subject != "budget/team-a" || event.Data.Condition != "budget/team-a/exceeded" {
		t.Errorf("the event is %+v", event)
	}
}

func TestWebhookSecrets(t *testing.T) {
	t.Parallel()
	for n, secret := range []string{"", "a plain secret", "whsec_MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1u"} {
		server, d, sender, _ := receiver(t, notification.Webhook)
		server.Secret, d.Secret = secret, secret
		if err := sender.Send(t.Context(), d, message(exceeded())); err != nil {
			t.Errorf("secret %d: %v", n, err)
		}
	}
	for n, secret := range []string{"whsec_", "whsec_not base64!"} {
		_, d, sender, _ := receiver(t, notification.Webhook)
		d.Secret = secret
		f := failure(t, sender.Send(t.Context(), d, message(exceeded())))
		if f.Uncertain || strings.Contains(f.Error(), "not base64!") || f.Remedy() == "" {
			t.Errorf("secret %s: the failure is %+v", strconv.Itoa(n), *f)
		}
	}
}

// Each type reports the number of events that had no room.
func TestLeftOutEventsAreCounted(t *testing.T) {
	t.Parallel()
	for _, kind := range types(t) {
		server, d, sender, _ := receiver(t, kind)
		m := message(exceeded())
		m.LeftOut = 37
		if err := sender.Send(t.Context(), d, m); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		var texts []string
		for _, a := range server.Arrivals() {
			texts = append(texts, a.Text)
		}
		if !strings.Contains(strings.Join(texts, "\n"), "37") {
			t.Errorf("%s: the number of events without a line is missing: %q", kind, texts)
		}
		if alerts := server.Alerts(); kind == notification.PagerDuty && len(alerts) != 1 {
			t.Errorf("%s: the alerts are %+v, want only that of the exceeded budget", kind, alerts)
		}
	}
}
