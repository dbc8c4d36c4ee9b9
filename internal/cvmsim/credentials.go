package cvmsim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
)

// identity is who signed a call.
type identity struct {
	SecretID string
	Role     string // of temporary credentials, else ""
	Session  string
}

// credentials knows the account's one key pair, and issues temporary ones.
// What a temporary key pair is allowed follows from its token alone, so that
// nothing about it has to be kept.
type credentials struct {
	accountID, secretID, secretKey string
}

// temporaryKey is an issued key pair, as STS and the metadata service give it.
type temporaryKey struct {
	SecretID, SecretKey, Token string
	Expires                    time.Time
}

type tokenClaims struct {
	SecretID string `json:"id"`
	Role     string `json:"role"`
	Session  string `json:"session"`
	Expires  int64  `json:"expires"`
}

// issue makes temporary credentials for a role.
func (c credentials) issue(role, session string, expires time.Time) temporaryKey {
	id := "AKIDtemp" + strings.ReplaceAll(newUUID(), "-", "")
	claims := base64.RawURLEncoding.EncodeToString(mustJSON(tokenClaims{
		SecretID: id, Role: role, Session: session, Expires: expires.Unix(),
	}))
	return temporaryKey{
		SecretID:  id,
		SecretKey: c.derive("key", id),
		Token:     claims + "." + c.derive("token", claims),
		Expires:   expires,
	}
}

// secretFor returns the key that a call with this id and token must be signed
// with. now is the world's time, which temporary credentials expire by.
func (c credentials) secretFor(id, token string, now time.Time) (string, identity, *apiError) {
	if id == "" {
		return "", identity{}, fail("AuthFailure.InvalidSecretId", "The SecretId is empty.")
	}
	if token == "" {
		if id == c.secretID {
			return c.secretKey, identity{SecretID: id}, nil
		}
		if strings.HasPrefix(id, "AKIDtemp") {
			return "", identity{}, fail("AuthFailure.TokenFailure", "Temporary credentials need their token.")
		}
		return "", identity{}, fail("AuthFailure.SecretIdNotFound", "The SecretId is not found. Please check that it is correct.")
	}
	claims, ok := c.readToken(token)
	if !ok || claims.SecretID != id {
		return "", identity{}, fail("AuthFailure.TokenFailure", "The token is invalid or does not belong to this SecretId.")
	}
	if now.Unix() >= claims.Expires {
		return "", identity{}, fail("AuthFailure.TokenFailure", "The token has expired.")
	}
	return c.derive("key", id), identity{SecretID: id, Role: claims.Role, Session: claims.Session}, nil
}

func (c credentials) readToken(token string) (tokenClaims, bool) {
	var claims tokenClaims
	encoded, mac, found := strings.Cut(token, ".")
	if !found || !hmac.Equal([]byte(mac), []byte(c.derive("token", encoded))) {
		return claims, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || json.Unmarshal(raw, &claims) != nil {
		return claims, false
	}
	return claims, true
}

func (c credentials) derive(purpose, text string) string {
	return hex.EncodeToString(hmacSHA256([]byte(c.secretKey), purpose+"/"+text))
}

func hmacSHA256(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
