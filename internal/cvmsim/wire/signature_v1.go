package wire

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// v1Parameters are the common parameters of a v1 request, which stand among
// those of the action.
var v1Parameters = []string{
	"Action", "Version", "Region", "Timestamp", "Nonce", "SecretId", "SignatureMethod",
	"Signature", "RequestClient", "Language", "Token",
}

// verifyV1 checks an HmacSHA1 or HmacSHA256 signature over the sorted,
// unescaped parameters (API document 213/15693).
func (a Account) verifyV1(r *http.Request, flat map[string]string, clock, now time.Time) (Identity, *Error) {
	for _, name := range []string{"Timestamp", "Nonce", "SecretId", "Signature"} {
		if flat[name] == "" {
			return Identity{}, Missing(name)
		}
	}
	if _, failure := checkTimestamp(flat["Timestamp"], "Timestamp", clock); failure != nil {
		return Identity{}, failure
	}
	var algorithm func() hash.Hash
	switch flat["SignatureMethod"] {
	case "", "HmacSHA1":
		algorithm = sha1.New
	case "HmacSHA256":
		algorithm = sha256.New
	default:
		return Identity{}, Fail("InvalidParameterValue", "`SignatureMethod` must be HmacSHA1 or HmacSHA256.")
	}
	secret, who, failure := a.secretFor(flat["SecretId"], flat["Token"], now)
	if failure != nil {
		return Identity{}, failure
	}
	for _, host := range hostForms(r.Host) {
		mac := hmac.New(algorithm, []byte(secret))
		mac.Write([]byte(r.Method + host + r.URL.Path + "?" + sortedPairs(flat)))
		want := base64.StdEncoding.EncodeToString(mac.Sum(nil))
		if hmac.Equal([]byte(want), []byte(flat["Signature"])) {
			return who, nil
		}
	}
	return Identity{}, signatureFailure()
}

func sortedPairs(flat map[string]string) string {
	pairs := make([]string, 0, len(flat))
	for _, name := range slices.Sorted(maps.Keys(flat)) {
		if name != "Signature" {
			pairs = append(pairs, name+"="+flat[name])
		}
	}
	return strings.Join(pairs, "&")
}
