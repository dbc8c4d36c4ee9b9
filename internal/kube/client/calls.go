package client

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

// witness keeps what answers tell beside their contents.
type witness struct {
	mu    sync.Mutex
	calls map[string]int
	date  time.Time // the server's, in whole seconds
	at    time.Time // this machine's, when date came
}

// now is the server's clock. Its Date is cut to whole seconds, so the time may be
// up to a second behind, and never ahead.
func (w *witness) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.date.IsZero() {
		return time.Time{}
	}
	return w.date.Add(time.Since(w.at))
}

// witnessed is a transport whose answers a witness reads.
type witnessed struct {
	next    http.RoundTripper
	under   string // the path of the API server's address
	witness *witness
	log     *slog.Logger
}

// RoundTrip makes a call. What is logged of it is neither its headers, which hold
// the credentials, nor its query, nor any body.
func (t *witnessed) RoundTrip(r *http.Request) (*http.Response, error) {
	call, sent := callName(r, t.under), time.Now()
	t.witness.count(call)
	response, err := t.next.RoundTrip(r)
	if err != nil {
		t.logged(r, call, sent, slog.String("error", err.Error()))
		return nil, err
	}
	t.logged(r, call, sent, slog.Int("status", response.StatusCode))
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		t.witness.heard(date, time.Now())
	}
	return response, nil
}

// logged tells of a call whose answer has begun. A list's pages and a watch's
// events come after that.
func (t *witnessed) logged(r *http.Request, call string, sent time.Time, outcome slog.Attr) {
	t.log.LogAttrs(r.Context(), slog.LevelDebug, "cluster call",
		slog.String("action", call), slog.String("path", r.URL.Path), outcome, slog.Duration("took", time.Since(sent)))
}

func (w *witness) count(call string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[call]++
}

func (w *witness) heard(date, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// A later answer tells more only if it says more than was known already.
	if w.date.IsZero() || date.After(w.date.Add(at.Sub(w.at))) || w.date.Add(at.Sub(w.at)).Sub(date) > 2*time.Second {
		w.date, w.at = date, at
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
