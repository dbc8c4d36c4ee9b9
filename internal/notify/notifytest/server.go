// Package notifytest imitates the receivers of notifications. Each server enforces the limits, the
// forms and the signatures that its operator publishes, records what arrived, and fails on request.
package notifytest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
)

// Key is the part of the URL that authorizes a sender. Each URL of New has it as path or parameter.
const Key = "2f1c7a90-5d1e-4b7a-9f6e-0a1b2c3d4e5f"

// RoutingKey is the key that PagerDuty's server accepts.
const RoutingKey = "0123456789abcdef0123456789abcdef"

// Arrival is a request that the server accepted.
type Arrival struct {
	At     time.Time
	Header http.Header
	Body   []byte
	// Text is what people read, without markup.
	Text string
	// IDs are those of events, or keys of alerts, if the protocol has any.
	IDs []string
	// Mentions are the persons and groups that the message alerts.
	Mentions []string
}

// Fault changes how one request ends.
type Fault struct {
	// Record processes the request, before the rest of the fault.
	Record bool
	Delay  time.Duration
	// Cut closes the connection without a response.
	Cut bool
	// Status, Header and Body replace the response, if Status is not zero.
	Status int
	Header map[string]string
	Body   string
}

// Alert is an alert of PagerDuty or Alertmanager, by its key or its labels.
type Alert struct {
	Key, Severity, Summary string
	StartsAt, EndsAt       time.Time
	Labels                 map[string]string
	// Triggers counts the requests that fired it.
	Triggers int
}

// Server is an http.Handler that imitates the receiver of one type. Set its fields before the first
// request.
type Server struct {
	Type notification.Type
	// Secret is checked in signatures, or as the bearer token of Alertmanager. Empty checks nothing.
	Secret string
	// Keyword is required in each message by DingTalk and Feishu. Empty requires none.
	Keyword string
	// Now is the clock, time.Now if nil.
	Now func() time.Time
	// NextFault returns the fault of a request if Fail queued none; nil for none.
	NextFault func() Fault
	// URL is the address for a declaration, after New.
	URL string

	mu       sync.Mutex
	arrivals []Arrival
	requests int
	faults   []Fault
	alerts   map[string]*Alert
	recent   []time.Time
	blocked  time.Time
	burst    float64
}

// New starts a server, which ends with the test.
func New(t testing.TB, kind notification.Type) *Server {
	t.Helper()
	s := &Server{Type: kind}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	s.URL = s.Address(web.URL)
	return s
}

// Address returns the URL for a declaration, of a server that listens at a base such as
// http://127.0.0.1:8080.
func (s *Server) Address(base string) string {
	switch s.Type {
	case notification.WeCom:
		return base + "/cgi-bin/webhook/send?key=" + Key
	case notification.DingTalk:
		return base + "/robot/send?access_token=" + Key
	case notification.Alertmanager:
		return base
	}
	return base + "/services/" + Key
}

// Fail queues faults: each request takes one.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Arrivals returns the accepted requests.
func (s *Server) Arrivals() []Arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.arrivals)
}

// Requests counts all requests, with those that were refused or failed.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Alerts returns the alerts that fire, in the order of their keys.
func (s *Server) Alerts() []Alert {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	var list []Alert
	for _, a := range s.alerts {
		if a.EndsAt.IsZero() || a.EndsAt.After(now) {
			list = append(list, *a)
		}
	}
	slices.SortFunc(list, func(a, b Alert) int { return strings.Compare(a.Key, b.Key) })
	return list
}

func (s *Server) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// reply is the response to a request.
type reply struct {
	status int
	header map[string]string
	body   string
	// arrival is nil if the request is refused.
	arrival *Arrival
}

// receivers enforce what each type publishes. The server is locked.
var receivers = map[notification.Type]func(*Server, *http.Request, []byte) reply{
	notification.Slack: (*Server).slack, notification.Teams: (*Server).teams, notification.WeCom: (*Server).weCom,
	notification.DingTalk: (*Server).dingTalk, notification.Feishu: (*Server).feishu, notification.PagerDuty: (*Server).pagerDuty,
	notification.Alertmanager: (*Server).alertmanager, notification.Webhook: (*Server).webhook,
}

// ServeHTTP processes one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil || r.Method != http.MethodPost {
		http.Error(w, "invalid request", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.requests++
	var fault Fault
	if len(s.faults) > 0 {
		fault, s.faults = s.faults[0], s.faults[1:]
	} else if s.NextFault != nil {
		fault = s.NextFault()
	}
	s.mu.Unlock()
	replaced := fault.Cut || fault.Status != 0
	var got reply
	if fault.Record {
		got = s.receive(r, body)
	}
	if fault.Delay > 0 {
		timer := time.NewTimer(fault.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
		}
	}
	switch {
	case fault.Cut:
		panic(http.ErrAbortHandler)
	case fault.Status != 0:
		got = reply{status: fault.Status, header: fault.Header, body: fault.Body}
	case !fault.Record && !replaced:
		got = s.receive(r, body)
	}
	for name, value := range got.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(got.status)
	_, _ = io.WriteString(w, got.body) // the sender may be gone
}

func (s *Server) receive(r *http.Request, body []byte) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := receivers[s.Type](s, r, body)
	if got.arrival != nil {
		got.arrival.At, got.arrival.Header, got.arrival.Body = s.now(), r.Header.Clone(), body
		s.arrivals = append(s.arrivals, *got.arrival)
	}
	return got
}

// exceeds reports whether a request is more than the given number in a window. It counts the request
// if it is not.
func (s *Server) exceeds(limits map[time.Duration]int) bool {
	now := s.now()
	for window, most := range limits {
		n := 0
		for _, at := range s.recent {
			if now.Sub(at) < window {
				n++
			}
		}
		if n >= most {
			return true
		}
	}
	s.recent = append(s.recent, now)
	return false
}

// bucket reports whether a request exceeds a rate a second with bursts.
func (s *Server) bucket(perSecond, burst float64) bool {
	now := s.now()
	if last := len(s.recent); last > 0 {
		s.burst = max(0, s.burst-now.Sub(s.recent[last-1]).Seconds()*perSecond)
	}
	s.recent = []time.Time{now}
	if s.burst+1 > burst {
		return true
	}
	s.burst++
	return false
}
