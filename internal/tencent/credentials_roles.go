package tencent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	tchttp "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/http"
)

const stsVersion = "2018-08-13"

// defaultSessionName shows in the audit log who assumed a role.
const defaultSessionName = "gpupool"

// roleAnswer is the answer of AssumeRole and AssumeRoleWithWebIdentity
// (API documents 1312/48197 and 1312/73070).
type roleAnswer struct {
	*tchttp.BaseResponse
	Response struct {
		Credentials *struct {
			Token     string
			SecretID  string `json:"TmpSecretId"`
			SecretKey string `json:"TmpSecretKey"`
		}
		ExpiredTime int64 // seconds since 1970
	}
}

func (r roleAnswer) credentials() (credentials, error) {
	c := r.Response.Credentials
	if c == nil || c.SecretID == "" || c.SecretKey == "" || r.Response.ExpiredTime == 0 {
		return credentials{}, errors.New("STS answered without credentials")
	}
	return credentials{secretID: c.SecretID, secretKey: c.SecretKey, token: c.Token, expires: time.Unix(r.Response.ExpiredTime, 0)}, nil
}

type assumedRole struct {
	api    *api
	base   *keyring
	role   AssumeRole
	region string
}

func (s assumedRole) describe() string { return "the assumed role " + s.role.RoleARN }

func (s assumedRole) retrieve(ctx context.Context) (credentials, error) {
	parameters := map[string]any{
		"RoleArn":         s.role.RoleARN,
		"RoleSessionName": cmp.Or(s.role.SessionName, defaultSessionName),
		"DurationSeconds": cmp.Or(s.role.SessionDuration, defaultSessionDuration),
	}
	for name, value := range map[string]string{
		"Policy":         url.QueryEscape(s.role.Policy), // "needs urlencode" (STS AssumeRole, Policy)
		"ExternalId":     s.role.ExternalID,
		"SourceIdentity": s.role.SourceIdentity,
		"SerialNumber":   s.role.SerialNumber,
		"TokenCode":      s.role.TokenCode,
	} {
		if value != "" {
			parameters[name] = value
		}
	}
	return s.api.role(ctx, s.base, s.region, "AssumeRole", parameters)
}

// webIdentity assumes a role with an identity provider's token. The call is not
// signed: the token is the proof.
type webIdentity struct {
	api      *api
	identity WebIdentity
	region   string
	from     string
}

func (s webIdentity) describe() string { return s.from + ", role " + s.identity.RoleARN }

func (s webIdentity) retrieve(ctx context.Context) (credentials, error) {
	token, err := s.token()
	if err != nil {
		return credentials{}, err
	}
	return s.api.role(ctx, nil, s.region, "AssumeRoleWithWebIdentity", map[string]any{
		"ProviderId":       cmp.Or(s.identity.ProviderID, "OIDC"),
		"WebIdentityToken": token,
		"RoleArn":          s.identity.RoleARN,
		"RoleSessionName":  cmp.Or(s.identity.SessionName, defaultSessionName),
		"DurationSeconds":  cmp.Or(s.identity.SessionDuration, defaultSessionDuration),
	})
}

// token is the token itself, or what its file holds now: a bare token as
// Kubernetes projects it, or the official provider's JSON object.
func (s webIdentity) token() (string, error) {
	if s.identity.WebIdentityToken != "" {
		return s.identity.WebIdentityToken, nil
	}
	data, err := os.ReadFile(s.identity.WebIdentityTokenFile)
	if err != nil {
		return "", fmt.Errorf("the web identity token: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if strings.HasPrefix(token, "{") {
		var wrapped struct {
			Token string `json:"web_identity_token"`
		}
		if json.Unmarshal(data, &wrapped) != nil {
			return "", fmt.Errorf("the web identity token file %s is neither a token nor a JSON object with web_identity_token",
				s.identity.WebIdentityTokenFile)
		}
		token = wrapped.Token
	}
	if token == "" {
		return "", fmt.Errorf("the web identity token file %s is empty", s.identity.WebIdentityTokenFile)
	}
	return token, nil
}

func (a *api) role(ctx context.Context, keys *keyring, region, action string, parameters map[string]any) (credentials, error) {
	request := tchttp.NewCommonRequest(serviceSTS, stsVersion, action)
	if err := request.SetActionParameters(parameters); err != nil {
		return credentials{}, err
	}
	request.SetSkipSign(keys == nil)
	answer := roleAnswer{BaseResponse: &tchttp.BaseResponse{}}
	if _, err := a.call(ctx, keys, region, request, &answer); err != nil {
		for _, name := range []string{"WebIdentityToken", "TokenCode"} {
			if text, ok := parameters[name].(string); ok {
				err = without(err, text, "("+name+")")
			}
		}
		return credentials{}, err
	}
	return answer.credentials()
}
