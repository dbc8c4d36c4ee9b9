package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	tc3Algorithm    = "TC3-HMAC-SHA256"
	unsignedPayload = "UNSIGNED-PAYLOAD"
	maxSkew         = 5 * time.Minute // API document 213/33281
)

type tc3Authorization struct {
	SecretID, Date, Service string
	SignedHeaders           []string
	Signature               string
}

func parseTC3(header string) (tc3Authorization, *Error) {
	var a tc3Authorization
	bad := func(why string) *Error {
		return Fail("AuthFailure.InvalidAuthorization", "The Authorization header is invalid: %s.", why)
	}
	rest, found := strings.CutPrefix(header, tc3Algorithm+" ")
	if !found {
		return a, bad("the algorithm is not " + tc3Algorithm)
	}
	parts := map[string]string{}
	for _, part := range strings.Split(rest, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			return a, bad("a part has no value")
		}
		parts[name] = value
	}
	scope := strings.Split(parts["Credential"], "/")
	if len(scope) != 4 || scope[3] != "tc3_request" {
		return a, bad("Credential is not <SecretId>/<date>/<service>/tc3_request")
	}
	a.SecretID, a.Date, a.Service = scope[0], scope[1], scope[2]
	a.SignedHeaders = strings.Split(strings.ToLower(parts["SignedHeaders"]), ";")
	if !slices.Contains(a.SignedHeaders, "content-type") || !slices.Contains(a.SignedHeaders, "host") {
		return a, bad("SignedHeaders must name content-type and host")
	}
	a.Signature = parts["Signature"]
	if len(a.Signature) != sha256.Size*2 {
		return a, bad("Signature is not 64 hexadecimal digits")
	}
	return a, nil
}

// verifyTC3 checks a TC3-HMAC-SHA256 signature. clock is the base clock's time, for the timestamp;
// now is the world's.
func (a Account) verifyTC3(r *http.Request, body []byte, clock, now time.Time) (Identity, string, *Error) {
	auth, failure := parseTC3(r.Header.Get("Authorization"))
	if failure != nil {
		return Identity{}, "", failure
	}
	timestamp := r.Header.Get("X-TC-Timestamp")
	signedAt, failure := checkTimestamp(timestamp, "X-TC-Timestamp", clock)
	if failure != nil {
		return Identity{}, "", failure
	}
	if auth.Date != signedAt.UTC().Format(time.DateOnly) {
		return Identity{}, "", Fail("AuthFailure.SignatureFailure", "The date of the credential scope is not that of X-TC-Timestamp in UTC.")
	}
	secret, who, failure := a.secretFor(auth.SecretID, r.Header.Get("X-TC-Token"), now)
	if failure != nil {
		return Identity{}, "", failure
	}
	scope := auth.Date + "/" + auth.Service + "/tc3_request"
	key := hmacSHA256(hmacSHA256(hmacSHA256([]byte("TC3"+secret), auth.Date), auth.Service), "tc3_request")
	for _, headers := range canonicalHeaders(r, auth.SignedHeaders) {
		canonical := strings.Join([]string{
			r.Method, "/", canonicalQuery(r), headers, strings.Join(auth.SignedHeaders, ";"), payloadHash(r, body),
		}, "\n")
		toSign := strings.Join([]string{tc3Algorithm, timestamp, scope, SHA256([]byte(canonical))}, "\n")
		want := hex.EncodeToString(hmacSHA256(key, toSign))
		if hmac.Equal([]byte(want), []byte(auth.Signature)) {
			return who, auth.Service, nil
		}
	}
	return Identity{}, "", signatureFailure()
}

func signatureFailure() *Error {
	return Fail("AuthFailure.SignatureFailure", "The provided credentials could not be validated. Please check your signature is correct.")
}

func canonicalQuery(r *http.Request) string {
	if r.Method == http.MethodGet {
		return r.URL.RawQuery
	}
	return ""
}

func payloadHash(r *http.Request, body []byte) string {
	if r.Header.Get("X-TC-Content-SHA256") == unsignedPayload {
		return SHA256([]byte(unsignedPayload))
	}
	return SHA256(body)
}

// canonicalHeaders returns the forms that a client may have signed. The host can have its port, as
// in the Go SDK, or not, as in the Node.js SDK. Header values can be unchanged, as in both SDKs, or
// in lower case, as in the API document.
func canonicalHeaders(r *http.Request, names []string) []string {
	var forms []string
	for _, host := range hostForms(r.Host) {
		var b strings.Builder
		for _, name := range names {
			value := strings.TrimSpace(r.Header.Get(name))
			if name == "host" {
				value = host
			}
			b.WriteString(name + ":" + value + "\n")
		}
		forms = append(forms, b.String(), strings.ToLower(b.String()))
	}
	return forms
}

func hostForms(host string) []string {
	if bare, _, err := net.SplitHostPort(host); err == nil {
		return []string{host, bare}
	}
	return []string{host}
}

// checkTimestamp rejects a timestamp that is more than five minutes off.
func checkTimestamp(text, name string, clock time.Time) (time.Time, *Error) {
	if text == "" {
		return time.Time{}, Missing(name)
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 || seconds > 1<<40 {
		return time.Time{}, Fail("InvalidParameter", "`%s` is not a number of seconds since 1970.", name)
	}
	at := time.Unix(seconds, 0)
	if at.Sub(clock).Abs() > maxSkew {
		return time.Time{}, Fail("AuthFailure.SignatureExpire", "The signature has expired: the timestamp is more than five minutes from the server's time.")
	}
	return at, nil
}

// SHA256 returns a digest in hexadecimal digits.
func SHA256(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
