package notice_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/notice"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func chinaTime(at time.Time) string {
	return at.In(time.FixedZone("UTC+8", 8*60*60)).Format(time.DateTime)
}

type oneNode struct {
	calls    []string
	marked   bool
	has      node.Notice
	provider node.ProviderID
	pods     []node.Pod
	away     error            // the answer to each call
	refuse   map[string]error // the answer to the deletion of a pod
	half     bool             // SetNotice fails in the middle
}

func (c *oneNode) called(call, name string) error {
	c.calls = append(c.calls, call+" "+name)
	return c.away
}

func (c *oneNode) Notice(_ context.Context, name string) (time.Time, bool, error) {
	return c.has.At, c.marked, c.called("get", name)
}

func (c *oneNode) SetNotice(_ context.Context, name string, notice node.Notice, _ time.Time) error {
	if err := c.called("set", name); err != nil {
		return err
	}
	c.marked, c.has = true, notice
	if c.half {
		return errors.New("the taint is missing")
	}
	return nil
}

func (c *oneNode) ProviderID(_ context.Context, name string) (node.ProviderID, error) {
	return c.provider, c.called("provider", name)
}

func (c *oneNode) PodsOn(_ context.Context, name string) ([]node.Pod, error) {
	return c.pods, c.called("pods", name)
}

func (c *oneNode) DeletePod(_ context.Context, d node.Deletion) error {
	return errors.Join(c.called("delete", fmt.Sprintf("%s in %ds", d.Pod.Name, d.Grace)), c.refuse[d.Pod.Name])
}

func (c *oneNode) ClearNotice(_ context.Context, name string) error {
	if err := c.called("clear", name); err != nil {
		return err
	}
	c.marked, c.has = false, node.Notice{}
	return nil
}

// world is an agent, its metadata service and its node.
type world struct {
	t       *testing.T
	agent   *notice.Agent
	cluster oneNode
	now     time.Time
	told    []string

	mu     sync.Mutex
	answer http.HandlerFunc
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, now: noon, answer: http.NotFound}
	w.cluster.provider = node.ParseProviderID("qcloud:///800001/ins-own")
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		answer := w.answer
		w.mu.Unlock()
		switch r.URL.Path {
		case "/latest/meta-data/spot/termination-time":
			answer(out, r)
		case "/latest/meta-data/instance-id":
			_, _ = io.WriteString(out, "ins-own")
		default:
			t.Errorf("asked is %s", r.URL)
		}
	}))
	t.Cleanup(server.Close)
	metadata, err := notice.NewMetadata(server.URL, 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	w.agent = &notice.Agent{
		Node: "node-1", Metadata: metadata, Cluster: &w.cluster, Interval: 5 * time.Second,
		Now: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler), Warn: func(text string) { w.told = append(w.told, text) },
	}
	return w
}

func (w *world) answers(h http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = h
}

func (w *world) says(status int, body string) {
	w.answers(func(out http.ResponseWriter, _ *http.Request) {
		out.WriteHeader(status)
		_, _ = io.WriteString(out, body)
	})
}

// step asks once, and checks the calls, the report and the time of the next request.
func (w *world) step(next time.Duration, told string, calls ...string) {
	w.t.Helper()
	w.cluster.calls, w.told = nil, nil
	if got := w.agent.Step(w.t.Context()); got != next {
		w.t.Errorf("the next step is in %v, not %v", got, next)
	}
	if diff := cmp.Diff(calls, w.cluster.calls); diff != "" {
		w.t.Errorf("the calls (-want +got)\n%s", diff)
	}
	if got := strings.Join(w.told, "\n"); told == "" && got != "" || !strings.Contains(got, told) || len(w.told) > 1 {
		w.t.Errorf("told is %q, not one thing with %q", w.told, told)
	}
}

const usual = 5 * time.Second

// TestANoticeIsMarkedOnce: at the first word of it, and again for another time.
func TestANoticeIsMarkedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.step(usual, "", "get node-1")
	w.step(usual, "")
	at := noon.Add(2 * time.Minute)
	w.says(http.StatusOK, chinaTime(at)+"\n")
	w.step(time.Second, "reclaims the instance of the node node-1 at 2026-11-22T12:02:00Z", "set node-1")
	w.now = w.now.Add(5 * time.Second)
	w.step(usual, "", "provider node-1", "pods node-1")
	if !w.cluster.marked || !w.cluster.has.At.Equal(at) {
		t.Errorf("the node is %+v", w.cluster)
	}
	w.says(http.StatusOK, chinaTime(at.Add(30*time.Second)))
	w.step(usual, "12:02:30Z", "set node-1", "provider node-1", "pods node-1")
}

// TestInvalidResponseIsNotANotice: nothing is marked, nothing is cleared, and it is reported once.
func TestInvalidResponseIsNotANotice(t *testing.T) {
	t.Parallel()
	const page = "<!doctype html><html><head><title>Sign in</title></head></html>"
	slow := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"a page":            {func(out http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(out, page) }, "is not like"},
		"nothing":           {func(http.ResponseWriter, *http.Request) {}, "is not like"},
		"a time long ago":   {func(out http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(out, "2018-08-18 12:05:33") }, "check the clock"},
		"a time in UTC":     {func(out http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(out, "2026-11-22 12:02:00") }, "check the clock"},
		"an endless answer": {func(out http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(out, strings.Repeat("2", 1<<20)) }, "is not like"},
		"no time at all":    {slow, "does not report whether the instance is reclaimed"},
		"an error":          {func(out http.ResponseWriter, _ *http.Request) { out.WriteHeader(http.StatusInternalServerError) }, "HTTP 500"},
		"not allowed":       {func(out http.ResponseWriter, _ *http.Request) { out.WriteHeader(http.StatusForbidden) }, "HTTP 403"},
		"somewhere else":    {func(out http.ResponseWriter, r *http.Request) { http.Redirect(out, r, "/elsewhere", http.StatusFound) }, "HTTP 302"},
		"half of an answer": {func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Content-Length", "19")
			_, _ = io.WriteString(out, "2026-11-22")
		}, "does not report"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.answers(tt.answer)
			w.step(usual, tt.says)
			w.step(usual, "")
			w.answers(http.NotFound)
			w.step(usual, "", "get node-1")
			w.answers(tt.answer)
			w.step(usual, tt.says)

			// Nor is it the end of a notice.
			at := w.now.Add(2 * time.Minute)
			w.says(http.StatusOK, chinaTime(at))
			w.step(time.Second, "reclaims the instance", "set node-1")
			w.answers(tt.answer)
			w.now = at.Add(6 * time.Minute)
			w.step(usual, tt.says)
			if !w.cluster.marked {
				t.Error("the node does not bear its notice any more")
			}
		})
	}
}

// TestAnAPIServerThatIsAwayIsAskedUntilTheTimeHasPassed.
func TestAnAPIServerThatIsAwayIsAskedUntilTheTimeHasPassed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.step(usual, "", "get node-1")
	w.cluster.away = errors.New("no route to the API server")
	at := noon.Add(2 * time.Minute)
	w.says(http.StatusOK, chinaTime(at))
	w.cluster.calls, w.told = nil, nil
	if next := w.agent.Step(t.Context()); next != time.Second || len(w.told) != 2 || !strings.Contains(w.told[1], "interruption notice: no route") {
		t.Errorf("next in %v, told is %q", next, w.told)
	}
	w.step(time.Second, "", "set node-1")
	w.now = at.Add(-time.Second)
	w.says(http.StatusInternalServerError, "") // what was heard stands
	w.step(time.Second, "HTTP 500", "set node-1")
	w.cluster.away = nil
	w.step(usual, "", "set node-1", "provider node-1", "pods node-1")

	w = newWorld(t)
	w.cluster.away = errors.New("no route to the API server")
	w.says(http.StatusOK, chinaTime(at))
	w.agent.Step(t.Context())
	w.now = at.Add(time.Second)
	w.step(usual, "")
	if w.cluster.marked {
		t.Error("it is marked after its time")
	}
}

// TestANoticeThatDoesNotComeTrueIsCleared if the service withdraws it well after its time, also
// by another process than the one that marked it.
func TestANoticeThatDoesNotComeTrueIsCleared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := noon.Add(2 * time.Minute)
	w.says(http.StatusOK, chinaTime(at))
	w.step(time.Second, "reclaims", "set node-1")
	w.answers(http.NotFound)
	w.now = at.Add(-time.Minute)
	w.step(usual, "", "provider node-1", "pods node-1") // one missing answer withdraws nothing
	for _, later := range []time.Duration{time.Second, 4 * time.Minute} {
		w.now = at.Add(later)
		w.step(usual, "")
	}
	w.now = at.Add(5*time.Minute + time.Second)
	w.step(usual, "", "clear node-1")
	w.step(usual, "")

	// Another process finds it.
	w = newWorld(t)
	w.cluster.marked, w.cluster.has.At = true, at
	w.now = at
	w.step(usual, "", "get node-1")
	w.now = at.Add(6 * time.Minute)
	w.cluster.away = errors.New("no route to the API server")
	w.step(usual, "cannot remove the expired interruption notice", "clear node-1")
	w.cluster.away = nil
	w.step(usual, "", "clear node-1")

	// An invalid response is not a notice.
	w = newWorld(t)
	w.cluster.marked = true
	w.step(usual, "", "get node-1", "clear node-1")
}

// TestHalfOfANoticeIsCleared: its marking failed half-way, and it was withdrawn since.
func TestHalfOfANoticeIsCleared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.step(usual, "", "get node-1")
	at := noon.Add(2 * time.Minute)
	w.cluster.half = true
	w.says(http.StatusOK, chinaTime(at))
	w.agent.Step(t.Context())
	w.answers(http.NotFound)
	w.step(usual, "", "get node-1")
	w.now = at.Add(6 * time.Minute)
	w.step(usual, "", "clear node-1")
}

// TestStopsOnSignal: also in the middle of a question.
func TestStopsOnSignal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(t.Context())
	w.answers(func(_ http.ResponseWriter, r *http.Request) {
		stop(stopped)
		<-r.Context().Done()
	})
	if err := w.agent.Run(ctx); !errors.Is(err, stopped) || len(w.told) != 0 || len(w.cluster.calls) != 0 {
		t.Errorf("it ends with %v, told is %q, calls are %q", err, w.told, w.cluster.calls)
	}
}

func TestInvalidEndpoints(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{"", "metadata.tencentyun.com", "ftp://metadata.tencentyun.com", "http://", ":"} {
		_, err := notice.NewMetadata(endpoint, time.Second)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("invalid address of a metadata service %q", endpoint)) {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
}
