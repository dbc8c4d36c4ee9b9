package cvmsim

import (
	"regexp"
	"strings"
	"time"
)

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

// getCallerIdentity tells whose credentials signed the call.
func getCallerIdentity(_ *world, c *call, _ *getCallerIdentityRequest) (*getCallerIdentityResponse, *apiError) {
	account := c.account.ID
	answer := &getCallerIdentityResponse{
		Arn: "qcs::cam::uin/" + account + ":uin/" + account, AccountID: account,
		UserID: account, PrincipalID: account, Type: "RootAccount",
	}
	if role := c.identity.Role; role != "" {
		answer.Arn = "qcs::sts::uin/" + account + ":assumed-role/" + role + "/" + c.identity.Session
		answer.UserID = role + ":" + c.identity.Session
		answer.PrincipalID, answer.Type = role, "CAMRole"
	}
	return answer, nil
}

// roleParams are what both ways to assume a role need.
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

func assumeRole(_ *world, c *call, p *assumeRoleRequest) (*assumeRoleResponse, *apiError) {
	return assume(c, p.roleParams)
}

type assumeRoleWithWebIdentityRequest struct {
	roleParams
	ProviderID       *string `json:"ProviderId,omitempty"`
	WebIdentityToken *string `json:"WebIdentityToken,omitempty"`
}

// assumeRoleWithWebIdentity is the one action that needs no signature: the
// token vouches for the caller. Here any token does.
func assumeRoleWithWebIdentity(_ *world, c *call, p *assumeRoleWithWebIdentityRequest) (*assumeRoleResponse, *apiError) {
	if or(p.ProviderID, "") == "" {
		return nil, missing("ProviderId")
	}
	token := or(p.WebIdentityToken, "")
	if token == "" {
		return nil, missing("WebIdentityToken")
	}
	if strings.TrimSpace(token) == "" {
		return nil, fail("InvalidParameter.WebIdentityTokenError", "The web identity token is empty.")
	}
	return assume(c, p.roleParams)
}

func assume(c *call, p roleParams) (*assumeRoleResponse, *apiError) {
	arn, session := or(p.RoleArn, ""), or(p.RoleSessionName, "")
	if arn == "" {
		return nil, missing("RoleArn")
	}
	if session == "" {
		return nil, missing("RoleSessionName")
	}
	if !sessionName.MatchString(session) {
		return nil, fail("InvalidParameter.ParamError", "`RoleSessionName` is malformed.")
	}
	role, failure := roleOf(c, arn)
	if failure != nil {
		return nil, failure
	}
	seconds := or(p.DurationSeconds, defaultSession)
	if seconds < 1 || seconds > maxSession {
		return nil, fail("InvalidParameter.OverTimeError", "`DurationSeconds` must be from 1 to %d, not %d.", maxSession, seconds)
	}
	key := c.account.issue(role, session, c.now.Add(time.Duration(seconds)*time.Second))
	return &assumeRoleResponse{
		ExpiredTime: key.Expires.Unix(), Expiration: key.Expires.UTC().Format(wireTime),
		Credentials: wireCredentials{Token: key.Token, TmpSecretID: key.SecretID, TmpSecretKey: key.SecretKey},
	}, nil
}

// roleOf reads qcs::cam::uin/<account>:roleName/<role>. Every well-formed role
// of the account exists.
func roleOf(c *call, arn string) (string, *apiError) {
	rest, ok := strings.CutPrefix(arn, "qcs::cam::uin/")
	account, resource, found := strings.Cut(rest, ":")
	role, isRole := strings.CutPrefix(resource, "roleName/")
	if !ok || !found || !isRole || !roleName.MatchString(role) {
		return "", fail("InvalidParameter.ParamError", "`RoleArn` is not like qcs::cam::uin/%s:roleName/gpu-node.", c.account.ID)
	}
	if account != c.account.ID {
		return "", fail("ResourceNotFound.RoleNotFound", "The role does not exist in the account `%s`.", printable(account))
	}
	return role, nil
}
