package client

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

// calls counts the calls of each kind, and estimates from their responses
// the server's clock.
type calls struct {
	mu     sync.Mutex
	counts map[string]int
	date   time.Time // the server's, in whole seconds
	at     time.Time // this machine's, when date came
}

// now is the server's clock. Its Date is cut to whole seconds, so the time may be
// up to a second behind, and never ahead.
func (c *calls) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.date.IsZero() {
		return time.Time{}
	}
	return c.date.Add(time.Since(c.at))
}

// transport makes calls, counts and logs them, and reads the clock off the answers.
type transport struct {
	next  http.RoundTripper
	under string // the path of the API server's address
	calls *calls
	log   *slog.Logger
}

// RoundTrip makes a call. What is logged of it is neither its headers, which hold
// the credentials, nor its query, nor any body.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	call, sent := callName(r, t.under), time.Now()
	t.calls.count(call)
	response, err := t.next.RoundTrip(r)
	if err != nil {
		t.logged(r, call, sent, slog.String("error", err.Error()))
		return nil, err
	}
	t.logged(r, call, sent, slog.Int("status", response.StatusCode))
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		t.calls.updateClock(date, time.Now())
	}
	return response, nil
}

// logged logs a call whose response has begun. A list's pages and a watch's events come after that.
func (t *transport) logged(r *http.Request, call string, sent time.Time, outcome slog.Attr) {
	t.log.LogAttrs(r.Context(), slog.LevelDebug, "cluster call",
		slog.String("action", call), slog.String("path", r.URL.Path), outcome, slog.Duration("took", time.Since(sent)))
}

func (c *calls) count(call string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[call]++
}

// updateClock uses the Date of a response that came at a time of this machine.
func (c *calls) updateClock(date, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.date.Add(at.Sub(c.at))
	// Since a Date is cut to whole seconds, the one furthest ahead is the most exact.
	// One that is far behind says that the server's clock was set back.
	if c.date.IsZero() || date.After(known) || known.Sub(date) > 2*time.Second {
		c.date, c.at = date, at
	}
}

// callName is the verb and the resource of a call, as RBAC names them. The API
// server may be reached under a path.
func callName(r *http.Request, under string) string {
	path := strings.TrimPrefix(r.URL.Path, under)
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		parts = parts[3:]
	default:
		return "get " + path
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	resource, named := parts[0], len(parts) > 1
	if len(parts) > 2 {
		resource += "/" + parts[2]
	}
	verb := strings.ToLower(r.Method)
	switch r.Method {
	case http.MethodGet:
		switch {
		case r.URL.Query().Get("watch") != "":
			verb = "watch"
		case !named:
			verb = "list"
		}
	case http.MethodPost:
		verb = "create"
	case http.MethodPut:
		verb = "update"
	}
	return verb + " " + resource
}
