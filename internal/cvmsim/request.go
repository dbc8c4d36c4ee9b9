package cvmsim

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Size limits of requests (API document 1278/46710).
const (
	maxQuery = 32 << 10
	maxForm  = 1 << 20
	maxBody  = 10 << 20
)

// request is one API call as it came in, before its parameters have types.
type request struct {
	Action, Version, Region string
	Params                  map[string]any
	Identity                identity
}

// wire is what the parser needs of an HTTP request, in the two protocols.
type wire struct {
	http *http.Request
	body []byte
	flat map[string]string // of a query or form
}

// readRequest parses an HTTP request and verifies its signature. It returns
// what it could read also beside an error, for the record of calls. clock is
// the base clock's time, now the world's.
func (s *Server) readRequest(r *http.Request, clock, now time.Time) (request, *apiError) {
	var req request
	w, failure := readWire(r)
	req.Action, req.Version, req.Region = w.common("Action"), w.common("Version"), w.common("Region")
	if failure != nil {
		return req, failure
	}
	if req.Action == "" {
		return req, missing("Action")
	}
	action, known := actions[req.Action]
	if !known {
		return req, fail("InvalidAction", "The requested action `%s` is not supported.", printable(req.Action))
	}
	if req.Version == "" {
		return req, missing("Version")
	}
	if req.Version != action.version {
		return req, fail("NoSuchVersion", "The version `%s` of `%s` does not exist; there is %s.", printable(req.Version), action.name, action.version)
	}
	who, failure := s.authenticate(w, action, clock, now)
	if failure != nil {
		return req, failure
	}
	req.Identity = who
	if failure := checkRegion(action, req.Region); failure != nil {
		return req, failure
	}
	req.Params, failure = w.parameters()
	return req, failure
}

func readWire(r *http.Request) (wire, *apiError) {
	w := wire{http: r}
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		return w, fail("UnsupportedProtocol", "Only GET and POST requests are supported.")
	}
	if len(r.URL.RawQuery) > maxQuery {
		return w, fail("RequestSizeLimitExceeded", "The query is longer than 32 KB.")
	}
	limit := int64(maxBody)
	if w.isForm() {
		limit = maxForm
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, limit))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return w, fail("RequestSizeLimitExceeded", "The body is longer than %d bytes.", limit)
	}
	if err != nil {
		return w, fail("InternalError", "The body could not be read.")
	}
	w.body = body
	if r.Method == http.MethodGet {
		w.flat, err = flatten(r.URL.RawQuery)
	} else if w.isForm() {
		w.flat, err = flatten(string(body))
	}
	if err != nil {
		return w, fail("InvalidParameter", "The parameters are not well encoded: %v.", err)
	}
	return w, nil
}

func (w wire) isForm() bool {
	media, _, err := mime.ParseMediaType(w.http.Header.Get("Content-Type"))
	return w.http.Method == http.MethodPost && err == nil && media == "application/x-www-form-urlencoded"
}

// signedInHeader tells TC3, which has its common parameters in headers, from
// v1, which has them among the others.
func (w wire) signedInHeader() bool { return w.http.Header.Get("Authorization") != "" }

func (w wire) common(name string) string {
	if v := w.http.Header.Get("X-TC-" + name); v != "" {
		return v
	}
	if w.signedInHeader() {
		return ""
	}
	return w.flat[name]
}

func (s *Server) authenticate(w wire, action *action, clock, now time.Time) (identity, *apiError) {
	if w.http.Header.Get("Authorization") == "SKIP" {
		if !action.unsigned {
			return identity{}, fail("AuthFailure.InvalidAuthorization", "`%s` must be signed.", action.name)
		}
		return identity{}, nil
	}
	if w.signedInHeader() {
		if w.isForm() {
			return identity{}, fail("InvalidParameter", "A form body must be signed with HmacSHA1 or HmacSHA256.")
		}
		who, service, failure := s.credentials.verifyTC3(w.http, w.body, clock, now)
		if failure == nil && !serviceFits(service, action.service, w.http.Host) {
			failure = fail("AuthFailure.SignatureFailure", "The credential scope names the service `%s`, and `%s` is one of `%s`.", printable(service), action.name, action.service)
		}
		return who, failure
	}
	if w.flat == nil {
		return identity{}, fail("AuthFailure.InvalidAuthorization", "The Authorization header is missing.")
	}
	return s.credentials.verifyV1(w.http, w.flat, clock, now)
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

// parameters returns the action's parameters as a tree.
func (w wire) parameters() (map[string]any, *apiError) {
	if w.flat == nil {
		return parseJSON(w.body)
	}
	flat := w.flat
	if !w.signedInHeader() {
		for _, name := range v1Parameters {
			delete(flat, name)
		}
	}
	tree, err := nest(flat)
	if err != nil {
		return nil, parameterError(err)
	}
	return tree, nil
}

// parseJSON reads one JSON object, and nothing after it.
func parseJSON(body []byte) (map[string]any, *apiError) {
	var tree map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil || tree == nil {
		return nil, fail("InvalidParameter", "The body is not a JSON object.")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fail("InvalidParameter", "Something follows the JSON object of the body.")
	}
	return tree, nil
}

func flatten(query string) (map[string]string, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, err
	}
	flat := make(map[string]string, len(values))
	for name, all := range values {
		if len(all) != 1 {
			return nil, errors.New("a parameter is given twice")
		}
		flat[name] = all[0]
	}
	return flat, nil
}

// printable shortens text of a stranger for a message.
func printable(text string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '`' {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if runes := []rune(clean); len(runes) > 64 {
		return string(runes[:64]) + "…"
	}
	return clean
}
