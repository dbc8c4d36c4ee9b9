// Package control is the control surface of the local CVM, under /_sim/ and as methods for tests.
// It covers seeding, reclaiming, market, clock, settings, faults, and the record of calls.
package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// FieldError is an invalid field of a control request.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Message }

func fieldError(field, format string, args ...any) error {
	return &FieldError{Field: field, Message: fmt.Sprintf(format, args...)}
}

func notNegative[N ~int | ~int64](field string, n N) error {
	if n < 0 {
		return fieldError(field, "must not be negative")
	}
	return nil
}

// Panel implements the control surface for its endpoints and for tests.
type Panel struct {
	store    *world.Store
	endpoint *api.Endpoint
}

// New returns the control surface of a world and its endpoint.
func New(k *world.Store, e *api.Endpoint) *Panel { return &Panel{store: k, endpoint: e} }

// Reset empties the world: no instances, the catalog's market, the initial settings, no faults,
// no calls, and no clock steps. IDs are not reused.
func (p *Panel) Reset() error { return p.endpoint.Reset() }

// Now returns the world's time, which is also the Date header of each response.
func (p *Panel) Now() time.Time { return p.store.Now() }

// StepClock advances the world's clock and runs everything that falls due, in order. Signatures and
// rate limits are not affected.
func (p *Panel) StepClock(step time.Duration) (now time.Time, err error) {
	if step < 0 {
		return time.Time{}, fieldError("step", "the clock goes forward only")
	}
	err = p.store.Change(func(w *world.World) error {
		w.AdvanceTime(step)
		now = w.Now()
		return nil
	})
	return now, err
}

// Routes returns the endpoints that Help documents.
func (p *Panel) Routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_sim/instances", show(func() any { return map[string]any{"instances": p.Instances()} }))
	mux.HandleFunc("POST /_sim/instances", handleIDs(p.Seed))
	mux.HandleFunc("POST /_sim/state", handleDone(p.SetState))
	mux.HandleFunc("POST /_sim/reclaim", handleIDs(p.Reclaim))
	mux.HandleFunc("POST /_sim/stock", handleDone(p.SetStock))
	mux.HandleFunc("POST /_sim/price", handleDone(p.SetPrice))
	mux.HandleFunc("POST /_sim/settings", handleDone(p.Configure))
	mux.HandleFunc("GET /_sim/clock", show(func() any { return map[string]any{"now": p.Now().UTC()} }))
	mux.HandleFunc("POST /_sim/clock", handle(func(r *clockRequest) (any, error) {
		now, err := p.StepClock(time.Duration(r.Step))
		return map[string]any{"now": now.UTC()}, err
	}))
	p.faultRoutes(mux)
	p.callRoutes(mux)
	mux.HandleFunc("POST /_sim/reset", func(w http.ResponseWriter, _ *http.Request) {
		if err := p.Reset(); err != nil {
			refuse(w, err)
			return
		}
		answer(w, done)
	})
	mux.HandleFunc("GET /_sim/help", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte(Help())) // the client may have disconnected
	})
	return mux
}

type clockRequest struct {
	Step world.Duration `json:"step"`
}

// done is the response of endpoints without output.
var done = map[string]any{"ok": true}

const maxBody = 1 << 20

// handle returns a handler that strictly decodes a JSON body.
func handle[P any](run func(*P) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var tree map[string]any
		d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
		d.UseNumber()
		if err := d.Decode(&tree); err != nil {
			refuse(w, fieldError("body", "must be a JSON object: %v", err))
			return
		}
		params := new(P)
		if err := wire.Bind(tree, params); err != nil {
			refuse(w, fieldError(err.Path, "%s", err.Message))
			return
		}
		content, err := run(params)
		if err != nil {
			refuse(w, err)
			return
		}
		answer(w, content)
	}
}

// handleDone returns a handler of a function without output.
func handleDone[P any](run func(P) error) http.HandlerFunc {
	return handle(func(r *P) (any, error) { return done, run(*r) })
}

func handleIDs[P any](run func(P) ([]string, error)) http.HandlerFunc {
	return handle(func(r *P) (any, error) {
		ids, err := run(*r)
		return map[string]any{"instance_ids": ids}, err
	})
}

// show returns a handler without parameters.
func show(content func() any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { answer(w, content()) }
}

func answer(w http.ResponseWriter, content any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(wire.MustJSON(content), '\n')) // the client may have disconnected
}

// refuse responds with HTTP 400 for an invalid field, and with 500 if the state could not be
// written.
func refuse(w http.ResponseWriter, err error) {
	status, body := http.StatusInternalServerError, &FieldError{Message: err.Error()}
	if errors.As(err, &body) {
		status = http.StatusBadRequest
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(wire.MustJSON(map[string]any{"error": body}), '\n'))
}
