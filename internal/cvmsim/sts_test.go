package cvmsim_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

const roleArn = "qcs::cam::uin/" + cvmsim.DemoAccountID + ":roleName/gpu-node"

// as returns a client with temporary credentials.
func (a *api) as(answer object) *api {
	keys := answer["Credentials"].(object)
	other := *a
	other.id, other.key, other.token = keys["TmpSecretId"].(string), keys["TmpSecretKey"].(string), keys["Token"].(string)
	return &other
}

func TestCallerIdentity(t *testing.T) {
	t.Parallel()
	a := newAPI(t, cvmsimtest.Start(t, func(o *cvmsim.Options) { o.AccountID = "200000000002" }))
	got := pick(a.ok("sts", "GetCallerIdentity", nil), "AccountId", "Type", "UserId")
	if d := cmp.Diff(object{"AccountId": "200000000002", "Type": "RootAccount", "UserId": "200000000002"}, got); d != "" {
		t.Error(d)
	}
}

func TestAssumedRole(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := newAPI(t, sim)
	answer := a.ok("sts", "AssumeRole", object{"RoleArn": roleArn, "RoleSessionName": "test", "DurationSeconds": 900})
	role := a.as(answer)
	identity := role.ok("sts", "GetCallerIdentity", nil)
	if identity["Type"] != "CAMRole" || identity["AccountId"] != cvmsim.DemoAccountID {
		t.Errorf("the role is %v", identity)
	}
	role.ok("cvm", "DescribeInstances", nil)

	thief := *role
	thief.token = ""
	thief.refused("AuthFailure.TokenFailure", "cvm", "DescribeInstances", nil)
	thief.token = role.token + "0"
	thief.refused("AuthFailure.TokenFailure", "cvm", "DescribeInstances", nil)
	thief = *role
	thief.id = cvmsim.DemoSecretID
	thief.refused("AuthFailure.TokenFailure", "cvm", "DescribeInstances", nil)
	thief = *role
	thief.key = cvmsim.DemoSecretKey
	thief.refused("AuthFailure.SignatureFailure", "cvm", "DescribeInstances", nil)

	step(t, sim, 899*time.Second)
	role.ok("cvm", "DescribeInstances", nil)
	step(t, sim, 2*time.Second)
	role.refused("AuthFailure.TokenFailure", "cvm", "DescribeInstances", nil)
}

func TestWebIdentityNeedsNoSignature(t *testing.T) {
	t.Parallel()
	a := newAPI(t, cvmsimtest.Start(t))
	params := object{"ProviderId": "oidc", "WebIdentityToken": "token", "RoleArn": roleArn, "RoleSessionName": "test"}
	a.bend = func(r *http.Request) { r.Header.Set("Authorization", "SKIP") }
	answer := a.ok("sts", "AssumeRoleWithWebIdentity", params)
	a.refused("AuthFailure.InvalidAuthorization", "sts", "AssumeRole", object{"RoleArn": roleArn, "RoleSessionName": "test"})
	delete(params, "WebIdentityToken")
	a.refused("MissingParameter", "sts", "AssumeRoleWithWebIdentity", params)
	a.bend = nil
	a.as(answer).ok("cvm", "DescribeInstances", nil)
}

func TestAssumeRoleRefusals(t *testing.T) {
	t.Parallel()
	a := newAPI(t, cvmsimtest.Start(t))
	for code, params := range map[string]object{
		"MissingParameter":               {"RoleSessionName": "test"},
		"InvalidParameter.ParamError":    {"RoleArn": "gpu-node", "RoleSessionName": "test"},
		"ResourceNotFound.RoleNotFound":  {"RoleArn": "qcs::cam::uin/999:roleName/gpu-node", "RoleSessionName": "test"},
		"InvalidParameter.OverTimeError": {"RoleArn": roleArn, "RoleSessionName": "test", "DurationSeconds": 43201},
		"UnknownParameter":               {"RoleArn": roleArn, "RoleSessionName": "test", "Duration": 1},
	} {
		a.refused(code, "sts", "AssumeRole", params)
	}
}
