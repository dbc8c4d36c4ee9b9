// Package serve is the HTTP server: the API, health and metrics of a store. The store is the truth:
// a server keeps nothing that its end would lose.
package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/page"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/snapshot"
)

// Options are those of a server.
type Options struct {
	Source        *snapshot.Source
	Authenticator access.Authenticator
	Version       string
	Log           *slog.Logger
	// Loopback refuses requests for another host name, which a page of another site could send by
	// rebinding its name.
	Loopback bool
	// BehindProxy means that a proxy in front has TLS, and names the client as the last of X-Forwarded-For.
	BehindProxy bool
	ReadOnly    bool
	Jobs        api.Jobs
	// Words are the texts of the pages.
	Words page.Words
	// Submitted is called after a request was queued; it may be nil.
	Submitted func()
}

// Handler returns the handler of all requests.
func Handler(o Options) http.Handler {
	o.Loopback = o.Loopback && !o.BehindProxy // others reach it by the proxy
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { healthy(w) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyWithin)
		defer cancel()
		if err := o.Source.Ready(ctx); err != nil {
			o.Log.WarnContext(ctx, "not ready", "detail", err.Error())
			problem(w, http.StatusServiceUnavailable, "the store cannot be read; the log has the reason")
			return
		}
		healthy(w)
	})
	mux.HandleFunc("GET /metrics", scrape(o.Source))
	of := api.Options{Source: o.Source, Version: o.Version, Jobs: o.Jobs, Submitted: o.Submitted}
	api.Add(mux, of)
	failures := problems{page.Add(mux, page.Options{
		Reader: api.NewReader(of), Words: o.Words, Authenticator: o.Authenticator, Version: o.Version, Log: o.Log, SecureCookies: !o.Loopback,
	})}
	return &guard{Options: o, problems: failures, next: compact(failures.unrouted(mux))}
}

// readyWithin is how long a read of the store may take.
const readyWithin = 5 * time.Second

func healthy(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n")) // a client that is gone needs no response
}

// stopWithin is how long requests may take to finish when the server stops.
const stopWithin = 10 * time.Second

// Limits of what unfinished requests take: each may have 20 KB of headers, the longest token included.
const (
	connectionsAtMost = 500
	streamsAtMost     = 32 // of an HTTP/2 connection
)

// Serve serves until the context ends, and then finishes current requests. With a TLS configuration,
// it serves HTTP/2 and HTTP/1.1 by TLS, else HTTP/1.1.
func Serve(ctx context.Context, listener net.Listener, config *tls.Config, handler http.Handler) error {
	open := limit(listener, connectionsAtMost)
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 20 << 10, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), ConnState: open.state, TLSConfig: config,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: streamsAtMost, SendPingTimeout: 15 * time.Second},
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
		defer cancel()
		stopped <- server.Shutdown(ctx)
	})
	serve := server.Serve
	if config != nil {
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	err := serve(open)
	if stop() || !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}
