package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
)

// Identity is the signer of a call.
type Identity struct {
	SecretID string
	Role     string // of temporary credentials, else ""
	Session  string
}

// AppID is the account's AppId.
const AppID = 1250000000

// Account is the only account of the server. Its key pair signs calls, and temporary ones are
// issued for it. The token alone determines what a temporary key pair may do, so that nothing is
// stored.
type Account struct {
	ID, SecretID, SecretKey string
}

// TemporaryKey is an issued key pair, as STS and the metadata service give it.
type TemporaryKey struct {
	SecretID, SecretKey, Token string
	Expires                    time.Time
}

type tokenClaims struct {
	SecretID string `json:"id"`
	Role     string `json:"role"`
	Session  string `json:"session"`
	Expires  int64  `json:"expires"`
}

// Issue returns temporary credentials for a role.
func (a Account) Issue(role, session string, expires time.Time) TemporaryKey {
	id := "AKIDtemp" + strings.ReplaceAll(NewUUID(), "-", "")
	claims := base64.RawURLEncoding.EncodeToString(MustJSON(tokenClaims{
		SecretID: id, Role: role, Session: session, Expires: expires.Unix(),
	}))
	return TemporaryKey{
		SecretID:  id,
		SecretKey: a.derive("key", id),
		Token:     claims + "." + a.derive("token", claims),
		Expires:   expires,
	}
}

// secretFor returns the key that must sign a call with this ID and token. now is the world's time,
// by which temporary credentials expire.
func (a Account) secretFor(id, token string, now time.Time) (string, Identity, *Error) {
	if id == "" {
		return "", Identity{}, Fail("AuthFailure.InvalidSecretId", "The SecretId is empty.")
	}
	if token == "" {
		if id == a.SecretID {
			return a.SecretKey, Identity{SecretID: id}, nil
		}
		if strings.HasPrefix(id, "AKIDtemp") {
			return "", Identity{}, Fail("AuthFailure.TokenFailure", "Temporary credentials need their token.")
		}
		return "", Identity{}, Fail("AuthFailure.SecretIdNotFound", "The SecretId is not found. Please check that it is correct.")
	}
	claims, ok := a.readToken(token)
	if !ok || claims.SecretID != id {
		return "", Identity{}, Fail("AuthFailure.TokenFailure", "The token is invalid or does not belong to this SecretId.")
	}
	if now.Unix() >= claims.Expires {
		return "", Identity{}, Fail("AuthFailure.TokenFailure", "The token has expired.")
	}
	return a.derive("key", id), Identity{SecretID: id, Role: claims.Role, Session: claims.Session}, nil
}

// Verify checks the TC3 signature of a message, and returns its signer and service. clock is the
// base clock's time, for timestamps. now is the world's, by which temporary credentials expire.
func (a Account) Verify(m Message, clock, now time.Time) (Identity, string, *Error) {
	return a.verifyTC3(m.http, m.body, clock, now)
}

// readToken reports false for a token that the account did not issue.
func (a Account) readToken(token string) (tokenClaims, bool) {
	var claims tokenClaims
	encoded, mac, found := strings.Cut(token, ".")
	if !found || !hmac.Equal([]byte(mac), []byte(a.derive("token", encoded))) {
		return claims, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || json.Unmarshal(raw, &claims) != nil {
		return claims, false
	}
	return claims, true
}

func (a Account) derive(use, text string) string {
	return hex.EncodeToString(hmacSHA256([]byte(a.SecretKey), use+"/"+text))
}

func hmacSHA256(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
