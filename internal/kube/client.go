package kube

import (
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// dialTimeout is how long a cluster that doesn't answer is waited for.
const dialTimeout = 10 * time.Second

// Client is a connection to one cluster. It is safe for concurrent use.
type Client struct {
	config *rest.Config
	kube   kubernetes.Interface
	seen   *witness
}

// Open prepares a connection; it makes no call. userAgent is how the audit log
// of the cluster names the program, such as "gpupool/1.2.0".
func Open(c Config, userAgent string) (*Client, error) {
	config, err := c.REST()
	if err != nil {
		return nil, err
	}
	config.UserAgent = userAgent
	// The API server's own priority and fairness paces clients. client-go's
	// default of five requests a second would slow a run down for nothing.
	config.QPS = -1
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	config.WarningHandler = rest.NoWarnings{}
	if config.Dial == nil {
		config.Dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	}
	client := &Client{config: config, seen: &witness{calls: map[string]int{}}}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &witnessed{next: next, witness: client.seen} })
	if client.kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, &Error{Verb: "reach", Object: config.Host, Class: ClassConfiguration, Err: err}
	}
	return client, nil
}

// REST is a copy of the configuration of client-go that the client uses.
func (c *Client) REST() *rest.Config { return rest.CopyConfig(c.config) }

// Kubernetes is the client of the API's own groups.
func (c *Client) Kubernetes() kubernetes.Interface { return c.kube }

// Host is the address of the API server.
func (c *Client) Host() string { return c.config.Host }

// Now is the API server's clock: the Date of its last answer, and the time that
// passed since. Before the first answer it is zero.
func (c *Client) Now() time.Time { return c.seen.now() }

// Calls counts the API calls made so far, by verb and resource, such as
// "list pods".
func (c *Client) Calls() map[string]int {
	c.seen.mu.Lock()
	defer c.seen.mu.Unlock()
	return maps.Clone(c.seen.calls)
}

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
	witness *witness
}

// RoundTrip makes a call.
func (t *witnessed) RoundTrip(r *http.Request) (*http.Response, error) {
	t.witness.count(callName(r))
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		t.witness.heard(date, time.Now())
	}
	return response, nil
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

// callName is the verb and the resource of a call, as RBAC names them.
func callName(r *http.Request) string {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		parts = parts[3:]
	default:
		return "get " + r.URL.Path
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
