package cvmsim

import (
	"net/http"
	"slices"
	"strings"
)

// Server is a local CVM. It is an http.Handler that serves the API at "/", the
// control surface at "/_sim/" and the instance metadata at "/latest/".
type Server struct {
	*Panel

	options  Options
	keeper   *keeper
	endpoint *endpoint
	control  http.Handler
	metadata http.Handler
}

// New makes a server; with Options.StateDir it takes up the state there.
func New(o Options) (*Server, error) {
	o = o.withDefaults()
	k, err := newKeeper(o.Clock, o.settings(), o.StateDir)
	if err != nil {
		return nil, err
	}
	a := account{ID: o.AccountID, SecretID: o.SecretID, SecretKey: o.SecretKey}
	e := newEndpoint(k, a, o.Clock, o.CallLog, slices.Concat(cvmActions(), tagActions(), stsActions()))
	panel := newPanel(k, e)
	return &Server{
		Panel: panel, options: o, keeper: k, endpoint: e,
		control: panel.routes(), metadata: newMetadata(k, a, o.CamRoleName),
	}, nil
}

// Close releases answers that are held back, and closes the state directory.
// Calls that come later find a server in memory.
func (s *Server) Close() error {
	s.endpoint.Release()
	return s.keeper.Close()
}

// ServeHTTP serves the API, the control surface and the metadata.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.endpoint.Date(w)
	switch {
	case strings.HasPrefix(r.URL.Path, "/_sim/"):
		s.control.ServeHTTP(w, r)
	case strings.HasPrefix(r.URL.Path, "/latest/"):
		s.metadata.ServeHTTP(w, r)
	case r.URL.Path == "/" || r.URL.Path == "":
		s.endpoint.ServeHTTP(w, r)
	default:
		http.NotFound(w, r)
	}
}
