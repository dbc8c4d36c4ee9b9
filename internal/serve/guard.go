package serve

import (
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/page"
)

// guard is what every request passes before an operation.
type guard struct {
	Options
	problems
	next http.Handler
}

// ServeHTTP refuses what no operation should see, and logs who did what.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	r = r.WithContext(access.WithClient(r.Context(), g.client(r)))
	counted := &status{ResponseWriter: w, code: http.StatusOK}
	user := "-"
	defer func() {
		if failed := recover(); failed != nil {
			g.Log.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "panic", fmt.Sprint(failed))
			if !counted.wrote {
				g.write(counted, r, http.StatusInternalServerError, "the request failed; the log has the reason")
			}
		}
		g.audit(r, user, counted.code, time.Since(began))
	}()
	isPage := page.Is(r.URL.Path)
	headers(counted.Header(), isPage)
	if code, detail := g.refuse(r); code != 0 {
		g.write(counted, r, code, detail)
		return
	}
	r.Body = http.MaxBytesReader(counted, r.Body, api.BodyAtMost)
	if public(r.URL.Path) {
		g.next.ServeHTTP(counted, r)
		return
	}
	token := bearer(r)
	if cookie, err := r.Cookie(page.Cookie(!g.Loopback || r.TLS != nil)); err == nil && token == "" && isPage && safe(r.Method) {
		token = cookie.Value
	}
	u, err := g.Authenticator.Authenticate(r.Context(), token)
	switch {
	case errors.Is(err, access.ErrUnknownToken) && isPage:
		http.Redirect(counted, r, "/login?"+url.Values{"next": {r.URL.RequestURI()}}.Encode(), http.StatusSeeOther)
		return
	case errors.Is(err, access.ErrUnknownToken):
		counted.Header().Set("WWW-Authenticate", `Bearer realm="gpupool"`)
		problem(counted, http.StatusUnauthorized, err.Error())
		return
	case errors.Is(err, access.ErrTooManyTokens):
		counted.Header().Set("Retry-After", "5")
		g.write(counted, r, http.StatusTooManyRequests, err.Error())
		return
	case err != nil:
		g.Log.WarnContext(r.Context(), "token not checked", "detail", err.Error())
		g.write(counted, r, http.StatusServiceUnavailable, "the token cannot be checked now; the log has the reason")
		return
	}
	user = u.Name
	g.next.ServeHTTP(counted, r.WithContext(access.WithUser(r.Context(), u)))
}

// client returns the address of the client that sends a request.
func (g *guard) client(r *http.Request) string {
	if all := r.Header.Values("X-Forwarded-For"); g.BehindProxy && len(all) > 0 {
		last := all[len(all)-1]
		return strings.TrimSpace(last[strings.LastIndex(last, ",")+1:]) // those before it are what the client says
	}
	return r.RemoteAddr
}

// noPage is the content security policy of other responses than pages.
const noPage = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// ownPage is that of a page, which loads only files of this server.
var ownPage = sync.OnceValue(func() string {
	return "default-src 'none'; script-src 'self'; style-src " + page.StyleSources() +
		"; img-src data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
})

// headers are those of every response. No other site may read one.
func headers(h http.Header, isPage bool) {
	policy := noPage
	if isPage {
		policy = ownPage()
	}
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}

// public reports whether a path needs no token.
func public(path string) bool {
	switch path {
	case "/livez", "/readyz", "/api/v1/health", "/api/v1/openapi.json", "/login", "/logout":
		return true
	}
	return strings.HasPrefix(path, "/assets/")
}

func safe(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// crossOrigin refuses changes that a page of another site requests.
var crossOrigin = http.NewCrossOriginProtection()

// refuse returns why a request is refused, and 0 if it is not. A browser sends the Host of the page
// that makes the request. It sends JSON to another site only if that site allows it, which this one
// does not.
func (g *guard) refuse(r *http.Request) (int, string) {
	switch {
	case g.Loopback && !Loopback(r.Host):
		return http.StatusMisdirectedRequest, "this server is for the local machine: use 127.0.0.1, [::1] or localhost as its name"
	case safe(r.Method):
		return 0, ""
	case crossOrigin.Check(r) != nil:
		return http.StatusForbidden, "a page of another site may not request changes"
	case r.URL.Path == "/login" || r.URL.Path == "/logout": // they set a cookie, and change nothing here
		return 0, ""
	case g.ReadOnly:
		return http.StatusForbidden, "this server is read-only (--read-only): send the request to another one, or use the CLI"
	}
	if r.Method == http.MethodDelete { // it has no body, and another site needs its permission to send it
		return 0, ""
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return http.StatusUnsupportedMediaType, "set the header Content-Type: application/json, also without a body"
	}
	return 0, ""
}

// Loopback reports whether an address, or a Host header, is one of this machine only.
func Loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// audit logs a request. Reads that succeed are only for debugging.
func (g *guard) audit(r *http.Request, user string, code int, took time.Duration) {
	level := slog.LevelInfo
	if safe(r.Method) && code < http.StatusBadRequest {
		level = slog.LevelDebug
	}
	g.Log.LogAttrs(r.Context(), level, "request", slog.String("user", user), slog.String("method", r.Method), slog.String("path", r.URL.Path),
		slog.Int("code", code), slog.String("from", g.client(r)), slog.Duration("took", took))
}

// status is a response that remembers its code.
type status struct {
	http.ResponseWriter
	code  int
	wrote bool
}

func (s *status) WriteHeader(code int) {
	if !s.wrote {
		s.code, s.wrote = code, true
	}
	s.ResponseWriter.WriteHeader(code)
}

func (s *status) Write(b []byte) (int, error) {
	s.wrote = true
	return s.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (s *status) Unwrap() http.ResponseWriter { return s.ResponseWriter }
