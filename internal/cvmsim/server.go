package cvmsim

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// Server is a local CVM. It is an http.Handler that serves the API at "/", the
// control surface at "/_sim/" and the instance metadata at "/latest/".
type Server struct {
	options     Options
	credentials credentials
	calls       callLog
	closing     chan struct{}
	closeOnce   sync.Once
	control     *http.ServeMux

	mu       sync.Mutex // guards all below
	world    *world
	faults   []*Fault
	faultSeq int
	buckets  map[string]*bucket
	store    *stateStore // nil without a state directory
}

// call is one API call while it runs.
type call struct {
	Region    string
	now       time.Time
	requestID string
	identity  identity
	server    *Server
	launch    launchFate
	record    *Call
}

// launchFate is what becomes of the instances of a launch.
type launchFate int

const (
	launchWorks launchFate = iota
	launchFails
	launchHangs
)

// New makes a server; with Options.StateDir it takes up the state there.
func New(o Options) (*Server, error) {
	o = o.withDefaults()
	s := &Server{
		options:     o,
		credentials: credentials{accountID: o.AccountID, secretID: o.SecretID, secretKey: o.SecretKey},
		calls:       callLog{out: o.CallLog},
		closing:     make(chan struct{}),
		world:       newWorld(o),
		buckets:     map[string]*bucket{},
	}
	s.control = s.controlRoutes()
	if o.StateDir != "" {
		store, err := openState(o.StateDir, s.world)
		if err != nil {
			return nil, err
		}
		s.store = store
	}
	return s, nil
}

// Close releases answers that are held back, and closes the state directory.
// Calls that come later find a server in memory.
func (s *Server) Close() error {
	s.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		return nil
	}
	err := s.store.close()
	s.store = nil
	return err
}

// release ends the waits of answers that are held back.
func (s *Server) release() { s.closeOnce.Do(func() { close(s.closing) }) }

// ServeHTTP serves the API, the control surface and the metadata.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.date(w)
	switch {
	case strings.HasPrefix(r.URL.Path, "/_sim/"):
		s.control.ServeHTTP(w, r)
	case strings.HasPrefix(r.URL.Path, "/latest/"):
		s.serveMetadata(w, r)
	case r.URL.Path == "/" || r.URL.Path == "":
		s.serveAPI(w, r)
	default:
		http.NotFound(w, r)
	}
}

// date dates an answer by the world's clock, which clients take for the cloud's
// time.
func (s *Server) date(w http.ResponseWriter) {
	w.Header().Set("Date", s.Now().UTC().Format(http.TimeFormat))
}

func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	record := Call{RequestID: newUUID(), Outcome: outcomeOK}
	answer, fault, failure := s.handle(r, &record)
	if failure != nil {
		record.Outcome = failure.Code
	}
	s.calls.add(record)
	s.deliver(w, r, envelope(answer, failure, record.RequestID), fault)
}

// handle does one API call.
func (s *Server) handle(r *http.Request, record *Call) (any, Fault, *apiError) {
	clock, now := s.options.Clock(), s.Now()
	record.Time = now.UTC()
	req, failure := s.readRequest(r, clock, now)
	record.Action, record.Region = printable(req.Action), printable(req.Region)
	action := actions[req.Action]
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
	if p, ok := ready.params.(*runInstancesRequest); ok {
		record.ClientToken = printable(or(p.ClientToken, ""))
	}
	return s.run(action, req, ready, clock, record)
}

// run lets a call take effect, unless the rate limit or a fault is before it.
func (s *Server) run(a *action, req request, ready prepared, clock time.Time, record *Call) (any, Fault, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.world.settings.EnforceRates {
		if failure := s.allow(a, clock); failure != nil {
			return nil, Fault{}, failure
		}
	}
	fault, _ := s.nextFault(a.name, req.Region, aboutCall(ready.params))
	record.Fault = fault.Kind
	if failure := fault.refusal(a); failure != nil {
		return nil, fault, failure
	}
	if fault.beforeEffect() {
		return nil, fault, fail("InternalError", "The call did not reach the service.")
	}
	before, after := fault.passes()
	s.goOn(before)
	c := &call{Region: req.Region, now: s.now(), requestID: record.RequestID, identity: req.Identity, server: s, record: record}
	switch fault.Kind {
	case FaultLaunchFailed:
		c.launch = launchFails
	case FaultLaunchHangs:
		c.launch = launchHangs
	}
	answer, failure := ready.run(s.world, c)
	s.goOn(after)
	if err := s.commit(); err != nil {
		return nil, fault, fail("InternalServerError", "The state could not be written: %v.", err)
	}
	return answer, fault, failure
}

// commit writes what has changed to the state directory.
func (s *Server) commit() error {
	if s.store == nil {
		clear(s.world.changed)
		return nil
	}
	return s.store.commit(s.world)
}
