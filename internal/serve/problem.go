package serve

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gpupool/terraform-provider-gpupool/internal/serve/page"
)

// problem writes an error by RFC 9457.
func problem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	// A client that is gone needs no response.
	_ = json.NewEncoder(w).Encode(&huma.ErrorModel{Title: http.StatusText(status), Status: status, Detail: detail})
}

// problems writes errors: as pages for browsers, else by RFC 9457.
type problems struct {
	page func(w http.ResponseWriter, r *http.Request, code int, text string)
}

// browser reports whether a person requests a page.
func browser(r *http.Request) bool {
	return page.Is(r.URL.Path) && safe(r.Method) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

func (p problems) write(w http.ResponseWriter, r *http.Request, status int, detail string) {
	if browser(r) {
		p.page(w, r, status, detail)
		return
	}
	problem(w, status, detail)
}

// unrouted has a mux report unknown paths and methods as problems.
func (p problems) unrouted(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		probe := &discard{header: http.Header{}}
		mux.ServeHTTP(probe, r)
		if probe.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", probe.header.Get("Allow"))
			problem(w, probe.status, r.Method+" is not a method of this path")
			return
		}
		if browser(r) {
			p.page(w, r, http.StatusNotFound, "There is no page "+r.URL.Path+". The links below lead to all pages.")
			return
		}
		problem(w, http.StatusNotFound, "there is no such path; /api/v1/openapi.json describes the API")
	})
}

// discard is a response that keeps its status and header only.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }
