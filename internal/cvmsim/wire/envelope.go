package wire

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
)

// Error is an error response of the API: HTTP 200 with an Error in its envelope (API document
// 213/33281).
type Error struct {
	Code    string
	Message string
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Fail returns an error with a code and a message.
func Fail(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Missing returns the error for a missing required parameter.
func Missing(name string) *Error {
	return Fail("MissingParameter", "The request is missing a required parameter `%s`.", name)
}

// ParameterError converts a binding error to its API code.
func ParameterError(e *BindError) *Error {
	if e.Unknown {
		return Unknown(e.Path)
	}
	return Fail("InvalidParameter", "The parameter `%s` %s.", e.Path, e.Message)
}

// Unknown returns the error for an unknown parameter.
func Unknown(name string) *Error {
	return Fail("UnknownParameter", "The request contains an unknown parameter `%s`.", name)
}

// Envelope encodes a response or an error as the API does.
func Envelope(answer any, failure *Error, requestID string) []byte {
	fields := map[string]json.RawMessage{}
	if failure != nil {
		fields["Error"] = MustJSON(failure)
	} else if answer != nil {
		return appendRequestID(MustJSON(answer), requestID)
	}
	fields["RequestId"] = MustJSON(requestID)
	return MustJSON(map[string]any{"Response": fields})
}

// appendRequestID adds the request ID to an encoded object, without decoding the long pages of
// DescribeInstances again.
func appendRequestID(object []byte, requestID string) []byte {
	out := make([]byte, 0, len(object)+80)
	out = append(out, `{"Response":`...)
	out = append(out, object[:len(object)-1]...)
	if len(object) > 2 {
		out = append(out, ',')
	}
	out = append(out, `"RequestId":`...)
	out = append(out, MustJSON(requestID)...)
	return append(out, "}}"...)
}

// MustJSON encodes a value that always can be encoded.
func MustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("cvmsim: encoding an answer: %v", err))
	}
	return b
}

// WriteEnvelope writes a response with exactly "application/json". The Python SDK looks for Error
// only under that content type and text/plain (tencentcloud/common/abstract_client.py,
// _check_error).
func WriteEnvelope(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // the client may have disconnected
}

// NewUUID returns a random UUID, version 4.
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// TimeLayout is the time format of the APIs.
const TimeLayout = "2006-01-02T15:04:05Z"
