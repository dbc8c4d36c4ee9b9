package cvmsim

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// endpoint answers calls of the APIs.
type endpoint struct {
	Faults faults
	Calls  callLog

	actions   map[string]*action
	account   account
	clock     func() time.Time
	keeper    *keeper
	rates     rates
	closing   chan struct{}
	closeOnce sync.Once
}

// newEndpoint makes an endpoint of actions on a world. clock is the base
// clock, which signatures and rate limits are judged by; calls is where calls
// are written down, or nil.
func newEndpoint(k *keeper, a account, clock func() time.Time, calls io.Writer, actions []*action) *endpoint {
	return &endpoint{
		actions: byName(actions), account: a, clock: clock, keeper: k, rates: rates{buckets: map[string]*bucket{}}, Calls: callLog{out: calls},
		closing: make(chan struct{}),
	}
}

// Knows reports whether there is an action of the name.
func (e *endpoint) Knows(name string) bool { return e.actions[name] != nil }

// Release ends the waits of answers that are held back.
func (e *endpoint) Release() { e.closeOnce.Do(func() { close(e.closing) }) }

// Reset forgets all faults and calls, and empties the world.
func (e *endpoint) Reset() error {
	e.Faults.Clear()
	e.Calls.Reset()
	e.rates.reset()
	return e.keeper.Reset()
}

// Date dates an answer by the world's clock, which clients take for the cloud's
// time.
func (e *endpoint) Date(w http.ResponseWriter) {
	w.Header().Set("Date", e.keeper.Now().UTC().Format(http.TimeFormat))
}

// ServeHTTP answers one call.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	record := Call{RequestID: newUUID(), Outcome: outcomeOK}
	answer, fault, failure := e.handle(r, &record)
	if failure != nil {
		record.Outcome = failure.Code
	}
	e.Calls.add(record)
	e.deliver(w, r, envelope(answer, failure, record.RequestID), fault)
}

// handle does one API call.
func (e *endpoint) handle(r *http.Request, record *Call) (any, Fault, *apiError) {
	clock, now := e.clock(), e.keeper.Now()
	record.Time = now.UTC()
	req, failure := e.readRequest(r, clock, now)
	record.Action, record.Region = printable(req.Action), printable(req.Region)
	action := e.actions[req.Action]
	if action != nil {
		record.Service = action.service
	}
	if failure != nil {
		return nil, Fault{}, failure
	}
	ready, failure := action.prepare(req.Params)
	if failure != nil {
		return nil, Fault{}, failure
	}
	if p, ok := ready.params.(interface{ Token() string }); ok {
		record.ClientToken = printable(p.Token())
	}
	return e.run(action, req, ready, clock, record)
}

// run lets a call take effect, unless the rate limit or a fault is before it.
func (e *endpoint) run(a *action, req request, ready prepared, clock time.Time, record *Call) (answer any, fault Fault, failure *apiError) {
	err := e.keeper.Change(func(w *world) error {
		if fault, failure = e.admit(w, a, req, ready, clock); failure != nil {
			return failure
		}
		before, after := fault.passes()
		w.goOn(before)
		c := &call{
			Region: req.Region, now: w.now(), requestID: record.RequestID, identity: req.Identity, account: e.account,
			fate: fault.fate(), record: record,
		}
		answer, failure = ready.run(w, c)
		w.goOn(after)
		return nil
	})
	record.Fault = fault.Kind
	if err != nil && !errors.Is(err, failure) {
		return nil, fault, fail("InternalServerError", "The state could not be written: %v.", err)
	}
	return answer, fault, failure
}

// admit finds the fault that hits a call. It refuses calls above the rate
// limit, and those that their fault keeps from running.
func (e *endpoint) admit(w *world, a *action, req request, ready prepared, clock time.Time) (Fault, *apiError) {
	if w.settings.EnforceRates {
		if failure := e.rates.allow(a, clock); failure != nil {
			return Fault{}, failure
		}
	}
	var about subject
	if p, ok := ready.params.(interface{ About() subject }); ok {
		about = p.About()
	}
	fault := e.Faults.next(a.name, req.Region, about)
	failure := fault.refusal(a)
	if failure == nil && fault.beforeEffect() {
		failure = fail("InternalError", "The call did not reach the service.")
	}
	return fault, failure
}
