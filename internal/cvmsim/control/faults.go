package control

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
)

// AddFault adds a fault and returns its ID.
func (p *Panel) AddFault(f api.Fault) (string, error) {
	if !slices.Contains(api.FaultKinds, f.Kind) {
		return "", fieldError("kind", "must be one of %s, not %q", strings.Join(api.FaultKinds, ", "), f.Kind)
	}
	if f.Action != "" && f.Action != "*" && !p.endpoint.Knows(f.Action) {
		return "", fieldError("action", "%q is not an action of this server", f.Action)
	}
	if f.Kind == api.FaultError && f.Code == "" {
		return "", fieldError("code", "is required for the kind error")
	}
	if f.Count < -1 {
		return "", fieldError("count", "must be -1 (always), or how many calls")
	}
	if err := cmp.Or(notNegative("after", f.After), notNegative("delay", f.Delay)); err != nil {
		return "", err
	}
	return p.endpoint.Faults.Add(f), nil
}

// Faults returns the faults that still apply to calls.
func (p *Panel) Faults() []api.Fault { return p.endpoint.Faults.All() }

// ClearFaults removes the faults with these IDs, or all of them.
func (p *Panel) ClearFaults(ids ...string) { p.endpoint.Faults.Clear(ids...) }

func (p *Panel) faultRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /_sim/faults", show(func() any { return map[string]any{"faults": p.Faults()} }))
	mux.HandleFunc("POST /_sim/faults", handle(func(f *api.Fault) (any, error) {
		id, err := p.AddFault(*f)
		return map[string]any{"id": id}, err
	}))
	mux.HandleFunc("DELETE /_sim/faults", func(w http.ResponseWriter, r *http.Request) {
		p.ClearFaults(r.URL.Query()["id"]...)
		answer(w, done)
	})
}
