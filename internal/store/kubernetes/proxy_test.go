package kubernetes_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
)

type fault int

const (
	none       fault = iota
	cutBefore        // the API server never hears of it
	cutAfter         // the API server does it, and the answer is lost
	cutWithin        // the API server does it, and its answer breaks off in the middle
	slowBefore       // as cutBefore, once most of a short lease has passed
	slowAfter        // as cutAfter, once most of a short lease has passed
	unanswered       // the API server does it, and then there is silence
	expired          // 410, as for the pages of a list that took too long
)

// proxy is an API server's address at which calls meet faults. Its callers are cluster
// administrators.
type proxy struct {
	url string

	mu sync.Mutex
	// judge decides about a call, by "PUT /api/v1/..." ; nil lets all pass.
	judge func(call string) fault
	// ahead is by how much the Date of answers is off.
	ahead time.Duration
	calls []string
}

func (p *proxy) set(judge func(call string) fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.judge = judge
}

func (p *proxy) shift(ahead time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ahead = ahead
}

func (p *proxy) clear() (calls []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	calls, p.calls = p.calls, nil
	return calls
}

func (p *proxy) meet(r *http.Request) (fault, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	call := r.Method + " " + r.URL.RequestURI()
	p.calls = append(p.calls, call)
	if p.judge == nil {
		return none, p.ahead
	}
	return p.judge(call), p.ahead
}

func newProxy(t *testing.T, cluster *kubetest.Cluster) *proxy {
	t.Helper()
	config := cluster.Config()
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.Transport = transport
	p := &proxy{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		meets, ahead := p.meet(r)
		switch meets {
		case slowBefore, slowAfter:
			if meets == slowAfter {
				forward.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
			}
			time.Sleep(short.LeaseDuration - 200*time.Millisecond)
			panic(http.ErrAbortHandler)
		case cutBefore:
			panic(http.ErrAbortHandler)
		case cutAfter, unanswered:
			forward.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
			if meets == unanswered {
				<-r.Context().Done()
			}
			panic(http.ErrAbortHandler)
		case cutWithin:
			whole := httptest.NewRecorder()
			forward.ServeHTTP(whole, r.WithContext(context.WithoutCancel(r.Context())))
			w.Header().Set("Content-Type", whole.Header().Get("Content-Type"))
			w.Header().Set("Content-Length", strconv.Itoa(whole.Body.Len()))
			w.WriteHeader(whole.Code)
			_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case expired:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusGone)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old"}`))
			return
		case none:
		}
		if ahead != 0 {
			w = &dated{ResponseWriter: w, ahead: ahead}
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

type dated struct {
	http.ResponseWriter
	ahead time.Duration
}

func (d *dated) WriteHeader(code int) {
	d.Header().Set("Date", time.Now().Add(d.ahead).UTC().Format(http.TimeFormat))
	d.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (d *dated) Unwrap() http.ResponseWriter { return d.ResponseWriter }

func (p *proxy) open(t *testing.T, namespace string, o kubernetes.Options) *kubernetes.Store {
	t.Helper()
	return open(t, kubeclient.Config{Host: p.url}, namespace, o)
}

func first(prefix string, f fault) func(string) fault {
	met := false
	return func(call string) fault {
		if met || !strings.HasPrefix(call, prefix) {
			return none
		}
		met = true
		return f
	}
}

// every has a fault meet all calls that begin so.
func every(prefix string, f fault) func(string) fault {
	return func(call string) fault {
		if strings.HasPrefix(call, prefix) {
			return f
		}
		return none
	}
}
