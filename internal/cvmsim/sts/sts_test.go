package sts_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

type object = map[string]any

func TestCallerIdentity(t *testing.T) {
	t.Parallel()
	a := cvmsimtest.NewClient(t, cvmsimtest.Start(t, func(o *cvmsim.Options) { o.AccountID = "200000000002" }))
	got := cvmsimtest.Pick(a.OK("sts", "GetCallerIdentity", nil), "AccountId", "Type", "UserId")
	if d := cmp.Diff(object{"AccountId": "200000000002", "Type": "RootAccount", "UserId": "200000000002"}, got); d != "" {
		t.Error(d)
	}
}

func TestAssumedRole(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	answer := a.OK("sts", "AssumeRole", object{"RoleArn": cvmsimtest.RoleArn, "RoleSessionName": "test", "DurationSeconds": 900})
	role := a.As(answer)
	identity := role.OK("sts", "GetCallerIdentity", nil)
	if identity["Type"] != "CAMRole" || identity["AccountId"] != cvmsim.DemoAccountID {
		t.Errorf("the role is %v", identity)
	}
	role.OK("cvm", "DescribeInstances", nil)

	thief := *role
	thief.Token = ""
	thief.Refused("AuthFailure.TokenFailure", "cvm", "DescribeInstances", nil)
	thief.Token = role.Token + "0"
	thief.Refused("AuthFailure.TokenFailure", "cvm", "DescribeInstances", nil)
	thief = *role
	thief.ID = cvmsim.DemoSecretID
	thief.Refused("AuthFailure.TokenFailure", "cvm", "DescribeInstances", nil)
	thief = *role
	thief.Key = cvmsim.DemoSecretKey
	thief.Refused("AuthFailure.SignatureFailure", "cvm", "DescribeInstances", nil)

	cvmsimtest.Step(t, sim, 14*time.Minute) // the rest of the quarter of an hour passes by the real clock
	role.OK("cvm", "DescribeInstances", nil)
	cvmsimtest.Step(t, sim, time.Minute)
	role.Refused("AuthFailure.TokenFailure", "cvm", "DescribeInstances", nil)
}

func TestWebIdentityNeedsNoSignature(t *testing.T) {
	t.Parallel()
	a := cvmsimtest.NewClient(t, cvmsimtest.Start(t))
	params := object{"ProviderId": "oidc", "WebIdentityToken": "token", "RoleArn": cvmsimtest.RoleArn, "RoleSessionName": "test"}
	a.Bend = func(r *http.Request) { r.Header.Set("Authorization", "SKIP") }
	answer := a.OK("sts", "AssumeRoleWithWebIdentity", params)
	a.Refused("AuthFailure.InvalidAuthorization", "sts", "AssumeRole", object{"RoleArn": cvmsimtest.RoleArn, "RoleSessionName": "test"})
	delete(params, "WebIdentityToken")
	a.Refused("MissingParameter", "sts", "AssumeRoleWithWebIdentity", params)
	a.Bend = nil
	a.As(answer).OK("cvm", "DescribeInstances", nil)
}

func TestAssumeRoleRefusals(t *testing.T) {
	t.Parallel()
	a := cvmsimtest.NewClient(t, cvmsimtest.Start(t))
	for code, params := range map[string]object{
		"MissingParameter":               {"RoleSessionName": "test"},
		"InvalidParameter.ParamError":    {"RoleArn": "gpu-node", "RoleSessionName": "test"},
		"ResourceNotFound.RoleNotFound":  {"RoleArn": "qcs::cam::uin/999:roleName/gpu-node", "RoleSessionName": "test"},
		"InvalidParameter.OverTimeError": {"RoleArn": cvmsimtest.RoleArn, "RoleSessionName": "test", "DurationSeconds": 43201},
		"UnknownParameter":               {"RoleArn": cvmsimtest.RoleArn, "RoleSessionName": "test", "Duration": 1},
	} {
		a.Refused(code, "sts", "AssumeRole", params)
	}
}
