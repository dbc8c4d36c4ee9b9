// Package page is the web page of a server: what the API reads, for people without the CLI. It
// changes nothing. It works without JavaScript, except for charts.
package page

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
)

// Reader reads what the user of a request may read. Its errors have the code of a response.
type Reader interface {
	// Overview returns the state of all objects.
	Overview(ctx context.Context) (reconcile.StatusReport, error)
	// Explain returns what the decisions about an object depend on. It observes, which takes a while.
	Explain(ctx context.Context, object string) (reconcile.Explanation, error)
	// Events returns the newest events that a query selects.
	Events(ctx context.Context, q EventQuery) (eventlog.Report, error)
	// Jobs returns the requests, the latest first.
	Jobs(ctx context.Context) (request.JobList, error)
	// BudgetUsage returns the usage of a budget as of the last run.
	BudgetUsage(ctx context.Context, b budgets.Description) (BudgetUsage, error)
	// Limits returns the states of the budgets that limit pods of a namespace, and that the user may not read.
	Limits(ctx context.Context, namespace string) ([][]state.State, error)
}

// BudgetUsage is the usage of a budget by owner and over time.
type BudgetUsage struct {
	usage.Report
	// Unowned are the pods without an owner, those with the most usage first.
	Unowned []string
	// Ended are the pods that ended in the window, the latest first.
	Ended  []usage.Pod
	Course []budgets.Sample
	Limit  int64
}

// EventQuery selects events. Empty fields select all. Name is a name or a pattern, and Since is a duration
// or a time.
type EventQuery struct {
	Objects           []string
	Name, Kind, Since string
	Limit             int
}

// Words are the texts of the CLI, with times in RFC 3339. Those for a tenant, who does not see the whole installation, have
// no commands.
type Words interface {
	// Details returns the lines of gpupool status about objects.
	Details(r reconcile.StatusReport, tenant bool) []Section
	// Explanation returns what gpupool explain prints.
	Explanation(x reconcile.Explanation, tenant bool) string
}

// Section is what there is to say about an object, or about several that fail alike.
type Section struct {
	Objects []string
	Lines   []string
}

// Options are what the page needs.
type Options struct {
	Reader        Reader
	Words         Words
	Authenticator access.Authenticator
	Version       string
	Log           *slog.Logger
	// SecureCookies is false only on loopback addresses, which have no TLS.
	SecureCookies bool
}

// Is reports whether a path is of the page, and not of the API.
func Is(path string) bool {
	switch first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); first {
	case "api", "metrics", "livez", "readyz":
		return false
	}
	return true
}

// Add adds the page to a mux, and returns what writes errors as pages.
func Add(mux *http.ServeMux, o Options) func(w http.ResponseWriter, r *http.Request, code int, text string) {
	s := &site{o}
	mux.HandleFunc("GET /{$}", s.overview)
	mux.HandleFunc("GET /budgets", s.kind("Budgets", func(all, one *reconcile.StatusReport) { one.Budgets = all.Budgets }))
	mux.HandleFunc("GET /spotpools", s.kind("Spot pools", func(all, one *reconcile.StatusReport) { one.SpotPools = all.SpotPools }))
	mux.HandleFunc("GET /stockpools", s.kind("Stock pools", func(all, one *reconcile.StatusReport) { one.StockPools = all.StockPools }))
	mux.HandleFunc("GET /teams", s.teams)
	mux.HandleFunc("GET /spotpools/{region}/{name}", s.object("spot_pool", "region"))
	mux.HandleFunc("GET /budgets/{name}", s.object("budget", ""))
	mux.HandleFunc("GET /stockpools/{namespace}/{name}", s.object("stock_pool", "namespace"))
	mux.HandleFunc("GET /spotpools/{region}/{name}/decisions", s.decisions("spot_pool", "region"))
	mux.HandleFunc("GET /budgets/{name}/decisions", s.decisions("budget", ""))
	mux.HandleFunc("GET /stockpools/{namespace}/{name}/decisions", s.decisions("stock_pool", "namespace"))
	mux.HandleFunc("GET /teams/{namespace}", s.team)
	mux.HandleFunc("GET /history", s.history)
	mux.HandleFunc("GET /login", s.askToken)
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("POST /logout", s.logout)
	mux.HandleFunc("GET /assets/{file}", asset)
	return s.problem
}

type site struct{ Options }

// frame is what every page has.
type frame struct {
	Title   string
	Version string
	Store   string
	At      time.Time
	User    string
	Token   bool // the user has a token that they can forget
	Chart   bool
	Reloads bool // a part of the page
	Refresh bool // the page reloads its content
	Old     bool // it does so soon
	Body    any
}

// patience is how long a reader waits.
const patience = 20 * time.Second

// oldAge is the age of a state from which a page reloads soon.
const oldAge = 5 * time.Second

// show writes a page, or why there is none.
func (s *site) show(w http.ResponseWriter, r *http.Request, name string, read func(ctx context.Context, v view) (frame, error)) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	v, err := s.view(ctx)
	var f frame
	if err == nil {
		f, err = read(ctx, v)
	}
	if err != nil {
		code := codeOf(err)
		if code == http.StatusServiceUnavailable {
			s.Log.WarnContext(ctx, "page not read", "page", name, "detail", err.Error())
		}
		s.problem(w, r, code, message(code, err, v.tenant))
		return
	}
	s.write(w, r, http.StatusOK, name, f)
}

// problem writes an error as a page.
func (s *site) problem(w http.ResponseWriter, r *http.Request, code int, text string) {
	s.write(w, r, code, "error", frame{Title: http.StatusText(code), Body: text})
}

func (s *site) write(w http.ResponseWriter, r *http.Request, code int, name string, f frame) {
	f.Reloads = f.Reloads || f.Refresh
	f.Old = f.Refresh && (f.Old || time.Since(f.At) > oldAge)
	f.Version, f.User = s.Version, access.UserOf(r.Context()).Name
	if _, err := r.Cookie(Cookie(s.secure(r))); err == nil {
		f.Token = true
	}
	var text bytes.Buffer
	if err := templates()[name].Execute(&text, f); err != nil {
		s.Log.ErrorContext(r.Context(), "page failed", "page", name, "detail", err.Error())
		http.Error(w, "the page cannot be written; the log has the reason", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(text.Bytes()) // a client that is gone needs no response
}

// errNoObject is the error about an object that does not exist, or that the user may not read.
type errNoObject struct{ object string }

func (e errNoObject) Error() string { return e.object + " does not exist, or you may not read it" }

// GetStatus returns the code of the response.
func (errNoObject) GetStatus() int { return http.StatusNotFound }

// codeOf returns the code of an error of the reader.
func codeOf(err error) int {
	var coded interface{ GetStatus() int }
	if errors.As(err, &coded) {
		return coded.GetStatus()
	}
	return http.StatusServiceUnavailable
}

// message says what failed and what to do.
func message(code int, err error, tenant bool) string {
	switch code {
	case http.StatusNotFound:
		return "There is no such object, or you may not read it. The overview lists those that you may read."
	case http.StatusForbidden:
		return "You may not read this. Ask those who run gpupool for the right to read the namespace."
	case http.StatusServiceUnavailable:
		if tenant { // errors have addresses and paths
			return "The state cannot be read now. Reload the page in a minute."
		}
		return "The state cannot be read now: " + err.Error() + ". Reload the page in a minute."
	}
	return err.Error()
}
