package api

import (
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// request is one API call before its parameters have types.
type request struct {
	Action, Version, Region string
	Params                  map[string]any
	Identity                wire.Identity
}

// readRequest parses an HTTP request and verifies its signature. With an error it also returns what
// it could read, for the record of calls. clock is the base clock's time, now the world's.
func (e *Endpoint) readRequest(r *http.Request, clock, now time.Time) (request, *wire.Error) {
	var req request
	m, failure := wire.ReadMessage(r)
	req.Action, req.Version, req.Region = m.Common("Action"), m.Common("Version"), m.Common("Region")
	if failure != nil {
		return req, failure
	}
	if req.Action == "" {
		return req, wire.Missing("Action")
	}
	action, known := e.actions[req.Action]
	if !known {
		return req, wire.Fail("InvalidAction", "The requested action `%s` is not supported.", wire.Printable(req.Action))
	}
	if req.Version == "" {
		return req, wire.Missing("Version")
	}
	if req.Version != action.version {
		return req, wire.Fail("NoSuchVersion", "The version `%s` of `%s` does not exist; there is %s.", wire.Printable(req.Version), action.Name,
			action.version)
	}
	who, failure := e.authenticate(m, action, clock, now)
	if failure != nil {
		return req, failure
	}
	req.Identity = who
	if failure := checkRegion(action, req.Region); failure != nil {
		return req, failure
	}
	req.Params, failure = m.Parameters()
	return req, failure
}

func (e *Endpoint) authenticate(m wire.Message, action *Action, clock, now time.Time) (wire.Identity, *wire.Error) {
	if m.Unsigned() {
		if !action.unsigned {
			return wire.Identity{}, wire.Fail("AuthFailure.InvalidAuthorization", "`%s` must be signed.", action.Name)
		}
		return wire.Identity{}, nil
	}
	who, service, failure := e.account.Verify(m, clock, now)
	if failure == nil && !serviceFits(service, action.Service, m.Host()) {
		failure = wire.Fail("AuthFailure.SignatureFailure", "The credential scope names the service `%s`, and `%s` is one of `%s`.", wire.Printable(service),
			action.Name, action.Service)
	}
	return who, failure
}

// serviceFits accepts the action's service, and the first label of the host. The Node.js SDK takes
// the latter for the service's name: "127" for 127.0.0.1.
func serviceFits(service, want, host string) bool {
	if service == want {
		return true
	}
	if bare, _, err := net.SplitHostPort(host); err == nil {
		host = bare
	}
	label, _, _ := strings.Cut(host, ".")
	_, known := versions[service]
	return service == label && !known
}

func checkRegion(action *Action, region string) *wire.Error {
	if region == "" {
		if action.regional {
			return wire.Missing("Region")
		}
		return nil
	}
	if _, known := world.RegionByID[region]; !known {
		return wire.Fail("UnsupportedRegion", "The region `%s` is not supported by `%s`.", wire.Printable(region), action.Name)
	}
	return nil
}
