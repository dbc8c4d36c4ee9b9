// Package api serves calls of the local CVM's APIs: it reads a call, applies rate limits and
// faults, runs its action and records it. It also contains the rules of tags, which the APIs share.
// Other packages define the actions.
package api

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// Endpoint answers calls of the APIs.
type Endpoint struct {
	Faults Faults
	Calls  Log

	actions   map[string]*Action
	account   wire.Account
	clock     func() time.Time
	store     *world.Store
	rates     rates
	closing   chan struct{}
	closeOnce sync.Once
}

// New returns an endpoint with actions on a world. clock is the base clock for signatures and rate
// limits; calls is the log of calls, or nil.
func New(k *world.Store, a wire.Account, clock func() time.Time, calls io.Writer, actions []*Action) *Endpoint {
	byName := map[string]*Action{}
	for _, action := range actions {
		byName[action.Name] = action
	}
	return &Endpoint{
		actions: byName, account: a, clock: clock, store: k, rates: rates{buckets: map[string]*bucket{}}, Calls: Log{out: calls},
		closing: make(chan struct{}),
	}
}

// Knows reports whether there is an action of the name.
func (e *Endpoint) Knows(name string) bool { return e.actions[name] != nil }

// Release ends all delays of responses.
func (e *Endpoint) Release() { e.closeOnce.Do(func() { close(e.closing) }) }

// Reset removes all faults and calls, and empties the world.
func (e *Endpoint) Reset() error {
	e.Faults.Clear()
	e.Calls.Reset()
	e.rates.reset()
	return e.store.Reset()
}

// Date dates a response by the world's clock, which clients take for Tencent Cloud's time.
func (e *Endpoint) Date(w http.ResponseWriter) {
	w.Header().Set("Date", e.store.Now().UTC().Format(http.TimeFormat))
}

// ServeHTTP serves one call.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	record := Record{RequestID: wire.NewUUID(), Outcome: outcomeOK}
	answer, fault, failure := e.handle(r, &record)
	if failure != nil {
		record.Outcome = failure.Code
	}
	e.Calls.add(record)
	e.deliver(w, r, wire.Envelope(answer, failure, record.RequestID), fault)
}

func (e *Endpoint) handle(r *http.Request, record *Record) (any, Fault, *wire.Error) {
	clock, now := e.clock(), e.store.Now()
	record.Time = now.UTC()
	req, failure := e.readRequest(r, clock, now)
	record.Action, record.Region = wire.Printable(req.Action), wire.Printable(req.Region)
	action := e.actions[req.Action]
	if action != nil {
		record.Service = action.Service
	}
	if failure != nil {
		return nil, Fault{}, failure
	}
	ready, failure := action.prepare(req.Params)
	if failure != nil {
		return nil, Fault{}, failure
	}
	if p, ok := ready.params.(interface{ Token() string }); ok {
		record.ClientToken = wire.Printable(p.Token())
	}
	return e.run(action, req, ready, clock, record)
}

// run executes a call unless the rate limit or a fault prevents it.
func (e *Endpoint) run(a *Action, req request, ready prepared, clock time.Time, record *Record) (answer any, fault Fault, failure *wire.Error) {
	err := e.store.Change(func(w *world.World) error {
		if fault, failure = e.admit(w, a, req, ready, clock); failure != nil {
			return failure
		}
		before, after := fault.passes()
		w.AdvanceTime(before)
		c := &Call{
			Region: req.Region, Now: w.Now(), RequestID: record.RequestID, Identity: req.Identity, Account: e.account,
			Fate: fault.fate(), Record: record,
		}
		answer, failure = ready.run(w, c)
		w.AdvanceTime(after)
		return nil
	})
	record.Fault = fault.Kind
	if err != nil && !errors.Is(err, failure) {
		return nil, fault, wire.Fail("InternalServerError", "The state could not be written: %v.", err)
	}
	return answer, fault, failure
}

// admit returns the fault of a call. It rejects calls above the rate limit, and those that their
// fault prevents.
func (e *Endpoint) admit(w *world.World, a *Action, req request, ready prepared, clock time.Time) (Fault, *wire.Error) {
	if w.Settings.EnforceRates {
		if failure := e.rates.allow(a, clock); failure != nil {
			return Fault{}, failure
		}
	}
	var about Subject
	if p, ok := ready.params.(interface{ About() Subject }); ok {
		about = p.About()
	}
	fault := e.Faults.next(a.Name, req.Region, about)
	failure := fault.refusal(a)
	if failure == nil && fault.beforeEffect() {
		failure = wire.Fail("InternalError", "The call did not reach the service.")
	}
	return fault, failure
}
