package control

import (
	"net/http"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
)

// Calls returns the calls since the start or the last ResetCalls, oldest
// first.
func (p *Panel) Calls() []api.Record { return p.endpoint.Calls.All() }

// ResetCalls forgets the calls.
func (p *Panel) ResetCalls() { p.endpoint.Calls.Reset() }

func (p *Panel) listCalls(w http.ResponseWriter, r *http.Request) {
	action := r.URL.Query().Get("action")
	calls, counts := []api.Record{}, map[string]int{}
	for _, c := range p.Calls() {
		if api.Fits(action, c.Action) {
			calls = append(calls, c)
			counts[c.Action]++
		}
	}
	answer(w, map[string]any{"calls": calls, "counts": counts})
}

func (p *Panel) callRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /_sim/calls", p.listCalls)
	mux.HandleFunc("DELETE /_sim/calls", func(w http.ResponseWriter, _ *http.Request) {
		p.ResetCalls()
		answer(w, done)
	})
}
