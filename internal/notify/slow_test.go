package notify_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/notify"
)

// TestSlowReceiversEndWithTheAttempt has receivers that accept a request, and never finish their response.
func TestSlowReceiversEndWithTheAttempt(t *testing.T) {
	t.Parallel()
	for name, respond := range map[string]http.HandlerFunc{
		"no response": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"a body without an end": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte(" "))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(5 * time.Millisecond)
			}
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // else it does not notice that the sender is gone
			time.AfterFunc(100*time.Millisecond, cancel)
			respond(w, r)
		}))
		began := time.Now()
		d := notification.Declaration{Name: "ops", Type: notification.WeCom, URL: server.URL}
		f := failure(t, notify.Sender{}.Send(ctx, d, message(exceeded())))
		if took := time.Since(began); took > 5*time.Second || !f.Uncertain {
			t.Errorf("%s: after %v, the failure is %+v", name, took, *f)
		}
		cancel()
		server.Close()
	}
}

// TestHugeResponsesAreNotRead in full.
func TestHugeResponsesAreNotRead(t *testing.T) {
	t.Parallel()
	const most = 32 << 20
	var sent atomic.Int64
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(done)
		for sent.Load() < most {
			n, err := w.Write(make([]byte, 64<<10))
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	d := notification.Declaration{Name: "ops", Type: notification.WeCom, URL: server.URL}
	f := failure(t, notify.Sender{}.Send(t.Context(), d, message(exceeded())))
	<-done
	if !strings.Contains(f.Error(), "longer than 64 KB") || sent.Load() >= most {
		t.Errorf("after %d bytes, the failure is %+v", sent.Load(), *f)
	}
}

// hosts fails requests to other hosts than the first one.
type hosts struct {
	first   string
	foreign atomic.Int64
}

func (h *hosts) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != h.first {
		h.foreign.Add(1)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func TestNoRedirectIsFollowed(t *testing.T) {
	t.Parallel()
	for _, kind := range types(t) {
		for _, status := range []int{301, 302, 303, 307, 308} {
			for _, to := range []string{"http://169.254.169.254/latest/meta-data/", "http://127.0.0.1:1/", "/another/path", "file:///etc/passwd"} {
				requests := 0
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					requests++
					w.Header().Set("Location", to)
					w.WriteHeader(status)
				}))
				h := &hosts{first: strings.TrimPrefix(server.URL, "http://")}
				d := notification.Declaration{Name: "ops", Type: kind, URL: server.URL, Secret: secretOf(kind)}
				f := failure(t, notify.Sender{Client: &http.Client{Transport: h}}.Send(t.Context(), d, message(exceeded())))
				if h.foreign.Load() > 0 || requests != 1 || f.Code != "HTTP "+strconv.Itoa(status) || strings.Contains(f.Error()+f.Remedy(), to) {
					t.Errorf("%s, %d to %s: %d requests, %d of them to other hosts: %+v", kind, status, to, requests, h.foreign.Load(), *f)
				}
				server.Close()
			}
		}
	}
}
