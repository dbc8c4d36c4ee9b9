// Package sts implements the actions of STS: the caller's identity, and assuming a role.
package sts

import (
	"regexp"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// Actions are the operations of STS.
func Actions() []*api.Action {
	return []*api.Action{
		api.Operation("sts", "GetCallerIdentity", 20, getCallerIdentity),
		api.Operation("sts", "AssumeRole", 20, assumeRole),
		api.Operation("sts", "AssumeRoleWithWebIdentity", 20, assumeRoleWithWebIdentity).WithoutSignature(),
	}
}

// Bounds of temporary credentials (common role_arn_provider.go).
const (
	defaultSession = 7200
	maxSession     = 43200
)

var sessionName = regexp.MustCompile(`^[A-Za-z0-9_=,.@-]{2,128}$`)

type getCallerIdentityRequest struct{}

type getCallerIdentityResponse struct {
	Arn         string `json:"Arn"`
	AccountID   string `json:"AccountId"`
	UserID      string `json:"UserId"`
	PrincipalID string `json:"PrincipalId"`
	Type        string `json:"Type"`
}

func getCallerIdentity(_ *world.World, c *api.Call, _ *getCallerIdentityRequest) (*getCallerIdentityResponse, *wire.Error) {
	account := c.Account.ID
	answer := &getCallerIdentityResponse{
		Arn: "qcs::cam::uin/" + account + ":uin/" + account, AccountID: account,
		UserID: account, PrincipalID: account, Type: "RootAccount",
	}
	if role := c.Identity.Role; role != "" {
		answer.Arn = "qcs::sts::uin/" + account + ":assumed-role/" + role + "/" + c.Identity.Session
		answer.UserID = role + ":" + c.Identity.Session
		answer.PrincipalID, answer.Type = role, "CAMRole"
	}
	return answer, nil
}

// roleParams are the common parameters of both ways to assume a role.
type roleParams struct {
	RoleArn         *string `json:"RoleArn,omitempty"`
	RoleSessionName *string `json:"RoleSessionName,omitempty"`
	DurationSeconds *int64  `json:"DurationSeconds,omitempty"`
}

type assumeRoleRequest struct {
	roleParams
	Policy         *string      `json:"Policy,omitempty"`
	ExternalID     *string      `json:"ExternalId,omitempty"`
	Tags           []sessionTag `json:"Tags,omitempty"`
	SourceIdentity *string      `json:"SourceIdentity,omitempty"`
	SerialNumber   *string      `json:"SerialNumber,omitempty"`
	TokenCode      *string      `json:"TokenCode,omitempty"`
}

type sessionTag struct {
	Key   *string `json:"Key,omitempty"`
	Value *string `json:"Value,omitempty"`
}

type assumeRoleResponse struct {
	ExpiredTime int64           `json:"ExpiredTime"`
	Expiration  string          `json:"Expiration"`
	Credentials wireCredentials `json:"Credentials"`
}

type wireCredentials struct {
	Token        string `json:"Token"`
	TmpSecretID  string `json:"TmpSecretId"`
	TmpSecretKey string `json:"TmpSecretKey"`
}

func assumeRole(_ *world.World, c *api.Call, p *assumeRoleRequest) (*assumeRoleResponse, *wire.Error) {
	return assume(c, p.roleParams)
}

type assumeRoleWithWebIdentityRequest struct {
	roleParams
	ProviderID       *string `json:"ProviderId,omitempty"`
	WebIdentityToken *string `json:"WebIdentityToken,omitempty"`
}

// assumeRoleWithWebIdentity is the only action without a signature: the token authenticates the
// caller. Here any token is valid.
func assumeRoleWithWebIdentity(_ *world.World, c *api.Call, p *assumeRoleWithWebIdentityRequest) (*assumeRoleResponse, *wire.Error) {
	if wire.Or(p.ProviderID, "") == "" {
		return nil, wire.Missing("ProviderId")
	}
	token := wire.Or(p.WebIdentityToken, "")
	if token == "" {
		return nil, wire.Missing("WebIdentityToken")
	}
	if strings.TrimSpace(token) == "" {
		return nil, wire.Fail("InvalidParameter.WebIdentityTokenError", "The web identity token is empty.")
	}
	return assume(c, p.roleParams)
}

func assume(c *api.Call, p roleParams) (*assumeRoleResponse, *wire.Error) {
	arn, session := wire.Or(p.RoleArn, ""), wire.Or(p.RoleSessionName, "")
	if arn == "" {
		return nil, wire.Missing("RoleArn")
	}
	if session == "" {
		return nil, wire.Missing("RoleSessionName")
	}
	if !sessionName.MatchString(session) {
		return nil, wire.Fail("InvalidParameter.ParamError", "`RoleSessionName` is malformed.")
	}
	role, failure := roleOf(c, arn)
	if failure != nil {
		return nil, failure
	}
	seconds := wire.Or(p.DurationSeconds, defaultSession)
	if seconds < 1 || seconds > maxSession {
		return nil, wire.Fail("InvalidParameter.OverTimeError", "`DurationSeconds` must be from 1 to %d, not %d.", maxSession, seconds)
	}
	key := c.Account.Issue(role, session, c.Now.Add(time.Duration(seconds)*time.Second))
	return &assumeRoleResponse{
		ExpiredTime: key.Expires.Unix(), Expiration: key.Expires.UTC().Format(wire.TimeLayout),
		Credentials: wireCredentials{Token: key.Token, TmpSecretID: key.SecretID, TmpSecretKey: key.SecretKey},
	}, nil
}

// roleOf reads qcs::cam::uin/<account>:RoleName/<role>. Every well-formed role
// of the account exists.
func roleOf(c *api.Call, arn string) (string, *wire.Error) {
	rest, ok := strings.CutPrefix(arn, "qcs::cam::uin/")
	account, resource, found := strings.Cut(rest, ":")
	role, isRole := strings.CutPrefix(resource, "roleName/")
	if !ok || !found || !isRole || !wire.RoleName.Fits(role) {
		return "", wire.Fail("InvalidParameter.ParamError", "`RoleArn` is not like qcs::cam::uin/%s:roleName/gpu-node.", c.Account.ID)
	}
	if account != c.Account.ID {
		return "", wire.Fail("ResourceNotFound.RoleNotFound", "The role does not exist in the account `%s`.", wire.Printable(account))
	}
	return role, nil
}
