package cvmsim

import (
	"net"
	"net/http"
	"strings"
	"time"
)

// request is one API call as it came in, before its parameters have types.
type request struct {
	Action, Version, Region string
	Params                  map[string]any
	Identity                identity
}

// readRequest parses an HTTP request and verifies its signature. It returns
// what it could read also beside an error, for the record of calls. clock is
// the base clock's time, now the world's.
func (e *endpoint) readRequest(r *http.Request, clock, now time.Time) (request, *apiError) {
	var req request
	m, failure := readMessage(r)
	req.Action, req.Version, req.Region = m.common("Action"), m.common("Version"), m.common("Region")
	if failure != nil {
		return req, failure
	}
	if req.Action == "" {
		return req, missing("Action")
	}
	action, known := e.actions[req.Action]
	if !known {
		return req, fail("InvalidAction", "The requested action `%s` is not supported.", printable(req.Action))
	}
	if req.Version == "" {
		return req, missing("Version")
	}
	if req.Version != action.version {
		return req, fail("NoSuchVersion", "The version `%s` of `%s` does not exist; there is %s.", printable(req.Version), action.name, action.version)
	}
	who, failure := e.authenticate(m, action, clock, now)
	if failure != nil {
		return req, failure
	}
	req.Identity = who
	if failure := checkRegion(action, req.Region); failure != nil {
		return req, failure
	}
	req.Params, failure = m.parameters()
	return req, failure
}

func (e *endpoint) authenticate(m message, action *action, clock, now time.Time) (identity, *apiError) {
	if m.unsigned() {
		if !action.unsigned {
			return identity{}, fail("AuthFailure.InvalidAuthorization", "`%s` must be signed.", action.name)
		}
		return identity{}, nil
	}
	who, service, failure := e.account.verify(m, clock, now)
	if failure == nil && m.signedInHeader() && !serviceFits(service, action.service, m.Host()) {
		failure = fail("AuthFailure.SignatureFailure", "The credential scope names the service `%s`, and `%s` is one of `%s`.", printable(service), action.name, action.service)
	}
	return who, failure
}

// serviceFits accepts the action's service, and the first label of the host,
// which the Node.js SDK takes for the service's name: "127" for 127.0.0.1.
func serviceFits(service, want, host string) bool {
	if service == want {
		return true
	}
	if bare, _, err := net.SplitHostPort(host); err == nil {
		host = bare
	}
	label, _, _ := strings.Cut(host, ".")
	_, known := serviceVersions[service]
	return service == label && !known
}

func checkRegion(action *action, region string) *apiError {
	if region == "" {
		if action.regional {
			return missing("Region")
		}
		return nil
	}
	if _, known := regions[region]; !known {
		return fail("UnsupportedRegion", "The region `%s` is not supported by `%s`.", printable(region), action.name)
	}
	return nil
}
