// Package cvmsim is a local CVM: an HTTP server that speaks the wire protocol
// of Tencent Cloud's CVM, tag and STS APIs, verifies signatures, and keeps a
// small world of zones, stock, prices, quotas and instances behind them.
//
// What lives here: the server that puts the parts together, its options, and
// how a person runs it. Each part is a folder: cvm, tag, sts and metadata by the
// API that they speak, control for the surface under /_sim/, api for how a call
// is answered and what the APIs share, wire for the protocol, and world for what
// is beneath it all.
//
// What doesn't: anything of the pool core or of the CVM adapter. The parts
// import the standard library and each other alone, so that they cannot share a
// mistake with the SDK or with the adapter that is tested against them.
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
	keeper   *world.Keeper
	endpoint *api.Endpoint
	control  http.Handler
	metadata http.Handler
}

// New makes a server; with Options.StateDir it takes up the state there.
func New(o Options) (*Server, error) {
	o = o.withDefaults()
	k, err := world.NewKeeper(o.Clock, o.settings(), o.StateDir)
	if err != nil {
		return nil, err
	}
	a := wire.Account{ID: o.AccountID, SecretID: o.SecretID, SecretKey: o.SecretKey}
	e := api.New(k, a, o.Clock, o.CallLog, actions())
	panel := control.New(k, e)
	return &Server{
		Panel: panel, options: o, keeper: k, endpoint: e,
		control: panel.Routes(), metadata: metadata.New(k, a, o.CamRoleName),
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

// actions are those of all APIs.
func actions() []*api.Action { return slices.Concat(cvm.Actions(), tag.Actions(), sts.Actions()) }
