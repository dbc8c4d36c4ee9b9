// Package wire is the protocol of the local CVM. It has requests and their limits, the binding of
// parameters, the forms of IDs, signatures and accounts, and the envelope of responses and errors.
// It knows no action.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Size limits of requests (API document 1278/46710).
const (
	maxQuery = 32 << 10
	maxBody  = 10 << 20
)

// Message is an HTTP request: a POST with a JSON body, or a GET with a query.
type Message struct {
	http *http.Request
	body []byte
	flat map[string]string // of a GET's query
}

// ReadMessage reads a request within its size limits. With an error it also returns what it could
// read.
func ReadMessage(r *http.Request) (Message, *Error) {
	m := Message{http: r}
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		return m, Fail("UnsupportedProtocol", "Only GET and POST requests are supported.")
	}
	if len(r.URL.RawQuery) > maxQuery {
		return m, Fail("RequestSizeLimitExceeded", "The query is longer than 32 KB.")
	}
	if r.Header.Get("Authorization") == "" {
		return m, Fail("AuthFailure.InvalidAuthorization", "The Authorization header is missing: sign with TC3-HMAC-SHA256, the only signature "+
			"method supported.")
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return m, Fail("RequestSizeLimitExceeded", "The body is longer than %d bytes.", maxBody)
	}
	if err != nil {
		return m, Fail("InternalError", "The body could not be read.")
	}
	m.body = body
	if r.Method == http.MethodGet {
		if m.flat, err = flatten(r.URL.RawQuery); err != nil {
			return m, Fail("InvalidParameter", "The parameters are not well encoded: %v.", err)
		}
	}
	return m, nil
}

// Unsigned reports whether a call declares that it has no signature.
func (m Message) Unsigned() bool { return m.http.Header.Get("Authorization") == "SKIP" }

// Host returns the client's name for the server.
func (m Message) Host() string { return m.http.Host }

// Common returns a common parameter: Action, Version or Region.
func (m Message) Common(name string) string { return m.http.Header.Get("X-TC-" + name) }

// Parameters returns the action's parameters as a tree.
func (m Message) Parameters() (map[string]any, *Error) {
	if m.flat == nil {
		return parseJSON(m.body)
	}
	tree, err := nest(m.flat)
	if err != nil {
		return nil, ParameterError(err)
	}
	return tree, nil
}

// parseJSON reads one JSON object, and nothing after it.
func parseJSON(body []byte) (map[string]any, *Error) {
	var tree map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil || tree == nil {
		return nil, Fail("InvalidParameter", "The body is not a JSON object.")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, Fail("InvalidParameter", "Something follows the JSON object of the body.")
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

// Printable shortens foreign text for a message.
func Printable(text string) string {
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
