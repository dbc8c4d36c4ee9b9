//go:build unix

package stage

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// door is one process's own way to the cloud, so that it is known who calls, and
// whether a call is under way at a moment.
type door struct {
	url      string
	listener net.Listener
	server   *http.Server
	cloud    http.Handler
	watch    *watch
	began    func(action string, nth int) // called as a call begins

	mu    sync.Mutex
	calls []*passage
}

// passage is one call through a door.
type passage struct {
	action   string
	began    time.Time
	answered time.Time // zero until an answer is being written
}

func openDoor(ctx context.Context, cloud http.Handler, watch *watch) (*door, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &door{url: "http://" + listener.Addr().String(), listener: listener, cloud: cloud, watch: watch}
	d.server = &http.Server{Handler: d, ReadHeaderTimeout: time.Minute}
	go func() { _ = d.server.Serve(listener) }() // ends with Close
	return d, nil
}

// hear has a function called as each call begins.
func (d *door) hear(began func(action string, nth int)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.began = began
}

func (d *door) close() { _ = d.server.Close() }

// ServeHTTP passes a call on to the cloud.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.watch.Sample()
	p := &passage{action: r.Header.Get("X-Tc-Action"), began: time.Now()}
	d.mu.Lock()
	nth := 1
	for _, other := range d.calls {
		if other.action == p.action {
			nth++
		}
	}
	d.calls = append(d.calls, p)
	began := d.began
	d.mu.Unlock()
	if began != nil {
		began(p.action, nth)
	}
	d.cloud.ServeHTTP(&answering{ResponseWriter: w, door: d, passage: p}, r)
}

// inCall names a call that had begun at a moment, and whose answer was not being
// written yet; empty where there was none.
func (d *door) inCall(at time.Time) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.calls {
		if p.began.Before(at) && (p.answered.IsZero() || p.answered.After(at)) {
			return p.action
		}
	}
	return ""
}

// lastLook is when the last of the process's looks at machines began.
func (d *door) lastLook() (began time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.calls {
		if p.action == "DescribeInstances" {
			began = p.began
		}
	}
	return began
}

// answering notes when an answer is written, or the connection taken over to be
// reset.
type answering struct {
	http.ResponseWriter
	door    *door
	passage *passage
}

func (a *answering) now() {
	a.door.mu.Lock()
	defer a.door.mu.Unlock()
	if a.passage.answered.IsZero() {
		a.passage.answered = time.Now()
	}
}

func (a *answering) WriteHeader(status int)         { a.now(); a.ResponseWriter.WriteHeader(status) }
func (a *answering) Write(data []byte) (int, error) { a.now(); return a.ResponseWriter.Write(data) }
func (a *answering) Unwrap() http.ResponseWriter    { return a.ResponseWriter }
func (a *answering) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	a.now()
	return http.NewResponseController(a.ResponseWriter).Hijack()
}
