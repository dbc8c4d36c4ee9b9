package notifytest

import (
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// pagerDuty enforces https://github.com/PagerDuty/developer-docs/blob/main/docs/events-API-v2/01-Overview.md
// (512 KB, 202, 400) with the bodies of https://v2.developer.pagerduty.com/docs/send-an-event-events-api-v2,
// and keeps alerts by their key. Its rate has no published number: use Fail.
func (s *Server) pagerDuty(_ *http.Request, body []byte) reply {
	var m struct {
		RoutingKey string `json:"routing_key"`
		Action     string `json:"event_action"`
		Key        string `json:"dedup_key"`
		Payload    struct {
			Summary   string `json:"summary"`
			Source    string `json:"source"`
			Severity  string `json:"severity"`
			Timestamp string `json:"timestamp"`
			Details   struct {
				ID string `json:"event_id"`
			} `json:"custom_details"`
		} `json:"payload"`
		Links []struct {
			Href string `json:"href"`
		} `json:"links"`
	}
	p := &m.Payload
	problem := ""
	switch trigger := json.Unmarshal(body, &m) == nil && m.Action == "trigger"; {
	case len(body) > 512<<10:
		problem = "payload is too large"
	case len(m.RoutingKey) != 32:
		problem = "Length of 'routing_key' is incorrect (should be 32 characters)"
	case !slices.Contains([]string{"trigger", "acknowledge", "resolve"}, m.Action):
		problem = "'event_action' is missing or invalid"
	case len(m.Key) > 255, !trigger && m.Key == "":
		problem = "'dedup_key' is missing or too long"
	case trigger && (p.Summary == "" || utf8.RuneCountInString(p.Summary) > 1024):
		problem = "'payload.summary' is missing, blank or too long"
	case trigger && p.Source == "":
		problem = "'payload.source' is missing or blank"
	case trigger && !slices.Contains([]string{"critical", "error", "warning", "info"}, p.Severity):
		problem = "'payload.severity' is invalid (must be one of the following: 'critical', 'warning', 'error' or 'info')"
	}
	if problem != "" {
		return invalidEvent(problem)
	}
	if s.alerts == nil {
		s.alerts = map[string]*Alert{}
	}
	now := s.now()
	a := s.alerts[m.Key]
	switch {
	case m.Action == "trigger" && (a == nil || !a.EndsAt.IsZero()):
		s.alerts[m.Key] = &Alert{Key: m.Key, Severity: p.Severity, Summary: p.Summary, StartsAt: now, Triggers: 1}
	case m.Action == "trigger":
		a.Severity, a.Summary, a.Triggers = p.Severity, p.Summary, a.Triggers+1
	case m.Action == "resolve" && a != nil && a.EndsAt.IsZero():
		a.EndsAt = now
	}
	success, err := json.Marshal(map[string]string{"status": "success", "message": "Event processed", "dedup_key": m.Key})
	if err != nil {
		panic(err)
	}
	ids := []string{m.Action + " " + m.Key}
	if p.Details.ID != "" {
		ids = append(ids, p.Details.ID)
	}
	return reply{status: http.StatusAccepted, body: string(success), arrival: &Arrival{Text: p.Summary, IDs: ids}}
}

func invalidEvent(problem string) reply {
	body, err := json.Marshal(map[string]any{"status": "invalid event", "message": "Event object is invalid", "errors": []string{problem}})
	if err != nil {
		panic(err)
	}
	return reply{status: http.StatusBadRequest, body: string(body)}
}

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// alertmanager enforces https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml, and
// keeps alerts by their labels until endsAt. It merges as provider/mem/mem.go there does.
func (s *Server) alertmanager(r *http.Request, body []byte) reply {
	if !strings.HasSuffix(r.URL.Path, "/api/v2/alerts") {
		return reply{status: http.StatusNotFound, body: "404 page not found\n"}
	}
	if s.Secret != "" && r.Header.Get("Authorization") != "Bearer "+s.Secret {
		return reply{status: http.StatusUnauthorized, body: "Unauthorized\n"}
	}
	var alerts []struct {
		Labels, Annotations map[string]string
		StartsAt, EndsAt    time.Time
		GeneratorURL        string
	}
	if err := json.Unmarshal(body, &alerts); err != nil {
		return reply{status: http.StatusBadRequest, body: strconv.Quote("parsing alerts body failed: " + err.Error())}
	}
	if s.alerts == nil {
		s.alerts = map[string]*Alert{}
	}
	a := Arrival{}
	for _, posted := range alerts {
		if problem := alertProblem(posted.Labels, posted.StartsAt, posted.EndsAt, posted.GeneratorURL); problem != "" {
			return reply{status: http.StatusBadRequest, body: strconv.Quote(problem)}
		}
		key, err := json.Marshal(posted.Labels) // sorted
		if err != nil {
			panic(err)
		}
		now, known := s.now(), s.alerts[string(key)]
		if known == nil || !known.EndsAt.After(now) && posted.EndsAt.After(now) {
			known = &Alert{Key: string(key), Labels: posted.Labels, StartsAt: posted.StartsAt, EndsAt: posted.EndsAt}
			s.alerts[string(key)] = known
		}
		known.merge(posted.StartsAt, posted.EndsAt, now)
		known.Severity, known.Summary = posted.Labels["severity"], posted.Annotations["summary"]
		known.Triggers++
		a.Text += posted.Annotations["summary"] + "\n"
		a.IDs = append(a.IDs, posted.Annotations["event_id"])
	}
	a.IDs = slices.DeleteFunc(a.IDs, func(id string) bool { return id == "" })
	return reply{status: http.StatusOK, arrival: &a}
}

// merge takes the times of another request. If they overlap, the earliest start wins, and the latest
// end, unless the alert has ended.
func (a *Alert) merge(starts, ends, now time.Time) {
	within := func(at time.Time) bool { return at.After(a.StartsAt) && at.Before(a.EndsAt) }
	if within(ends) || within(starts) {
		if a.StartsAt.Before(starts) {
			starts = a.StartsAt
		}
		if a.EndsAt.After(ends) && (ends.After(now) || !a.EndsAt.After(now)) {
			ends = a.EndsAt
		}
	}
	a.StartsAt, a.EndsAt = starts, ends
}

func alertProblem(labels map[string]string, startsAt, endsAt time.Time, generator string) string {
	if len(labels) == 0 {
		return "at least one label pair required"
	}
	for name, value := range labels {
		if !labelName.MatchString(name) || !utf8.ValidString(value) {
			return "invalid label set: " + name
		}
	}
	if !endsAt.IsZero() && endsAt.Before(startsAt) {
		return "start time must be before end time"
	}
	if u, err := url.Parse(generator); err != nil || generator != "" && !u.IsAbs() {
		return "generatorURL must be of type uri"
	}
	return ""
}

// webhook enforces https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
// and the required attributes of https://github.com/cloudevents/spec/blob/v1.0/http-protocol-binding.md.
func (s *Server) webhook(r *http.Request, body []byte) reply {
	id, stamp := r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp")
	if s.Secret != "" && !s.verify(id, stamp, r.Header.Get("webhook-signature"), body) {
		return reply{status: http.StatusUnauthorized, body: "invalid signature"}
	}
	var event struct {
		SpecVersion, ID, Source, Type, Subject string
		Time                                   time.Time
		Data                                   struct{ Summary string }
	}
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if media != "application/cloudevents+json" || json.Unmarshal(body, &event) != nil || event.SpecVersion != "1.0" ||
		event.ID == "" || event.Source == "" || event.Type == "" {
		return reply{status: http.StatusBadRequest, body: "invalid event"}
	}
	return reply{status: http.StatusNoContent, arrival: &Arrival{Text: event.Data.Summary, IDs: []string{event.ID}}}
}

// verify checks a signature of Standard Webhooks, of which a list is permitted.
func (s *Server) verify(id, stamp, signatures string, body []byte) bool {
	at, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || s.now().Sub(time.Unix(at, 0)).Abs() > 5*time.Minute || id == "" || strings.Contains(id, ".") {
		return false
	}
	key := s.Secret
	if encoded, is := strings.CutPrefix(key, "whsec_"); is {
		decoded, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return false
		}
		key = string(decoded)
	}
	want := []byte("v1," + signature(key, id+"."+stamp+"."+string(body)))
	return slices.ContainsFunc(strings.Fields(signatures), func(got string) bool { return subtle.ConstantTimeCompare([]byte(got), want) == 1 })
}
