// Package cvmsim is a local CVM: an HTTP server that implements the wire protocol of Tencent
// Cloud's CVM, tag and STS APIs and verifies signatures. Behind them it keeps a small world of
// zones, stock, prices, quotas and instances.
//
// This package has the server, its options, and its command. Packages cvm, tag, sts and metadata
// implement an API each. Package control is the surface under /_sim/, api serves calls, wire is the
// protocol, and world the state.
//
// The parts import only the standard library and each other. They do not use the pool core, the SDK
// or the CVM adapter. So they cannot share a mistake with the code that is tested against them.
package cvmsim

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/control"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvm"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/metadata"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/sts"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/tag"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// Server is a local CVM. It is an http.Handler that serves the API at "/", the
// control surface at "/_sim/" and the instance metadata at "/latest/".
type Server struct {
	*control.Panel

	options  Options
	store    *world.Store
	endpoint *api.Endpoint
	control  http.Handler
	metadata http.Handler
}

// New returns a server. With Options.StateDir it loads the state from there.
func New(o Options) (*Server, error) {
	o = o.withDefaults()
	k, err := world.NewStore(o.Clock, o.settings(), o.StateDir)
	if err != nil {
		return nil, err
	}
	a := wire.Account{ID: o.AccountID, SecretID: o.SecretID, SecretKey: o.SecretKey}
	e := api.New(k, a, o.Clock, o.CallLog, actions())
	panel := control.New(k, e)
	return &Server{
		Panel: panel, options: o, store: k, endpoint: e,
		control: panel.Routes(), metadata: metadata.New(k, a, o.CamRoleName),
	}, nil
}

// Close ends all delays of responses, and closes the state directory. Later calls use a server in
// memory.
func (s *Server) Close() error {
	s.endpoint.Release()
	return s.store.Close()
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

func actions() []*api.Action { return slices.Concat(cvm.Actions(), tag.Actions(), sts.Actions()) }
