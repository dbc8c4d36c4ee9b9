package tencent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxResponse bounds an answer. A page of 100 instances is about 200 KB, the
// prices of a large region a few MB.
const maxResponse = 64 << 20

// exchange is one HTTP request and its response. The SDK converts failures to strings, so the
// failures themselves are kept here.
type exchange struct {
	sent      atomic.Bool // there was a connection, so that the request may have left
	err       error       // why the answer could not be read
	status    int
	date      time.Time // the server's clock
	requestID string
}

type exchangeKey struct{}

func (e *exchange) in(ctx context.Context) context.Context {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { e.sent.Store(true) },
	})
	return context.WithValue(ctx, exchangeKey{}, e)
}

// refusedHostError reports a request to a host that is not configured.
type refusedHostError struct{ host string }

func (e *refusedHostError) Error() string {
	return fmt.Sprintf("%s is not the configured endpoint, and nothing else is called", e.host)
}

// statusError is a response whose HTTP status is not 200. It comes from a proxy before the API,
// which always returns 200.
type statusError struct {
	status int
	title  string
}

func (e *statusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s %s", e.status, http.StatusText(e.status), e.title))
}

// transport sends requests only to the configured hosts, counts them, and reads each response
// in full.
type transport struct {
	base  http.RoundTripper
	hosts map[string]bool

	mu    sync.Mutex
	calls map[string]int
}

func newTransport(c Config) *transport {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConnsPerHost = 16
	base.Proxy = c.proxyFor(base.Proxy)
	if c.dial != nil {
		base.DialContext = c.dial
	}
	return &transport{base: base, hosts: c.hosts(), calls: map[string]int{}}
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	e, _ := r.Context().Value(exchangeKey{}).(*exchange)
	if e == nil {
		e = &exchange{}
	}
	if !t.hosts[r.URL.Host] {
		e.err = &refusedHostError{r.URL.Host}
		return nil, e.err
	}
	t.count(r.Header.Get("X-TC-Action"))
	response, err := t.base.RoundTrip(r)
	if err != nil {
		e.err = err
		return nil, err
	}
	defer response.Body.Close()
	e.status = response.StatusCode
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		e.date = date.UTC()
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	if err == nil && len(body) > maxResponse {
		err = fmt.Errorf("the answer is longer than %d MB", maxResponse>>20)
	}
	if err == nil && e.status != http.StatusOK && r.Method == http.MethodPost {
		err = &statusError{e.status, title(body)}
	}
	if err != nil {
		e.err = err
		return nil, err
	}
	e.requestID = lastRequestID(body)
	response.Body = io.NopCloser(bytes.NewReader(body))
	// The SDK does not read the error of some other content types
	// (common/http/response.go, TryReadErr).
	response.Header.Set("Content-Type", "application/json")
	return response, nil
}

func (t *transport) count(action string) {
	if action == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls[action]++
}

func (t *transport) counted() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.calls)
}

// title is the title of an HTML error page, for people.
func title(body []byte) string {
	lower := bytes.ToLower(body)
	start, end := bytes.Index(lower, []byte("<title>")), bytes.Index(lower, []byte("</title>"))
	if start < 0 || end < start || end-start > 200 || len(lower) != len(body) {
		return ""
	}
	return "(" + strings.TrimSpace(string(body[start+len("<title>"):end])) + ")"
}

// lastRequestID finds the answer's own RequestId without decoding it again; it
// is the last one in the text.
func lastRequestID(body []byte) string {
	i := bytes.LastIndex(body, []byte(`"RequestId"`))
	if i < 0 {
		return ""
	}
	rest := bytes.TrimLeft(body[i+len(`"RequestId"`):], " :\t\r\n")
	if len(rest) == 0 || rest[0] != '"' {
		return ""
	}
	id, _, found := bytes.Cut(rest[1:], []byte(`"`))
	if !found || len(id) > 64 {
		return ""
	}
	return string(id)
}

// neverSent reports whether there was no connection, so that nothing was sent.
func neverSent(e *exchange) bool {
	var refused *refusedHostError
	return e.err != nil && (errors.As(e.err, &refused) || !e.sent.Load())
}

// whyUnreachable describes in plain words why there is no connection.
func whyUnreachable(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return "its name " + dns.Name + " is not known"
	case errors.As(err, &op) && op.Timeout():
		return "the connection timed out"
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return err.Error()
}
