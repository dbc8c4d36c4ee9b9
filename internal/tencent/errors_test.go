package tencent

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// The meaning of each code, which processes may continue after it, and whether a launch
// certainly had no effect.
func TestErrorClasses(t *testing.T) {
	t.Parallel()
	const (
		capacity, price, quota = errorclass.Capacity, errorclass.Price, errorclass.Quota
		config, auth, passing  = errorclass.Configuration, errorclass.Authorization, errorclass.Transient
		offering, zone, pool   = spotpool.ScopeOffering, spotpool.ScopeZone, spotpool.ScopePool
	)
	rows := []struct {
		code    string
		class   errorclass.Class
		scope   spotpool.ErrorScope
		nothing bool
		retry   bool
	}{
		{"ResourcesSoldOut.SpecifiedInstanceType", capacity, offering, true, false},
		{"ResourceInsufficient.SpecifiedInstanceType", capacity, offering, true, false},
		{"ResourceInsufficient.ZoneSoldOutForSpecifiedInstance", capacity, offering, true, false},
		{"InvalidParameterValue.InsufficientOffering", capacity, offering, true, false},
		{"LimitExceeded.SpotQuota", capacity, offering, true, false},
		{"ResourcesSoldOut.AvailableZone", capacity, zone, true, false},
		{"ResourceInsufficient.AvailabilityZoneSoldOut", capacity, zone, true, false},
		{"ResourceInsufficient.CloudDiskSoldOut", capacity, zone, true, false},
		{"ResourceInsufficient.CloudDiskUnavailable", capacity, zone, true, false},
		{"InvalidParameter.InvalidCloudDiskSoldOut", capacity, zone, true, false},
		{"ResourcesSoldOut.EipInsufficient", capacity, zone, true, false},
		{"FailedOperation.NoAvailableIpAddressCountInSubnet", capacity, zone, true, false},
		{"ResourceInsufficient.CidrBlock", capacity, zone, true, false},
		{"LimitExceeded.VpcSubnetNum", capacity, zone, true, false},
		{"ResourceNotFound.NoDefaultCbs", capacity, zone, true, false},
		{"ResourceNotFound.NoDefaultCbsWithReason", capacity, zone, true, false},
		{"ResourceInsufficient.Other", capacity, offering, true, false},
		{"ResourcesSoldOut", capacity, offering, true, false},
		{"InvalidParameterValue.InsufficientPrice", price, offering, true, false},
		{"FailedOperation.InquiryPriceFailed", price, offering, true, false},
		{"LimitExceeded.UserSpotQuota", quota, zone, true, false},
		{"InstancesQuotaLimitExceeded", quota, zone, true, false},
		{"LimitExceeded.CvmInstanceQuota", quota, zone, true, false},
		{"LimitExceeded.InstanceQuota", quota, zone, true, false},
		{"LimitExceeded.TagValue", quota, pool, true, false},
		{"LimitExceeded.Other", quota, pool, true, false},
		{"OverQuota", quota, zone, true, false},
		{"InvalidParameterValue.TagQuotaLimitExceeded", quota, pool, true, false},
		{"InvalidAccount.InsufficientBalance", quota, pool, true, false},
		{"InvalidAccount.UnpaidOrder", quota, pool, true, false},
		{"UnsupportedOperation.NotSupportUnpaidOrder", quota, pool, true, false},
		{"ResourceUnavailable.InstanceType", config, offering, true, false},
		{"ResourceUnavailable", config, offering, true, false},
		{"InvalidParameterValue.InvalidImageForGivenInstanceType", config, offering, true, false},
		{"InvalidParameterValue.ZoneNotSupported", config, offering, true, false},
		{"InvalidParameterValue.InstanceTypeNotFound", config, offering, true, false},
		{"ResourceNotFound.InvalidZoneInstanceType", config, offering, true, false},
		{"UnsupportedOperation.NoInstanceTypeSupportSpot", config, offering, true, false},
		{"UnsupportedOperation.SpotUnsupportedRegion", config, zone, true, false},
		{"InvalidInstanceChargeType.OnlySupportedForSpot", config, zone, true, false},
		{"UnsupportedRegion", config, pool, true, false},
		{"InvalidRegion.NotFound", config, pool, true, false},
		{"InvalidParameterValue.InvalidRegion", config, pool, true, false},
		{"InvalidZone.MismatchRegion", config, pool, true, false},
		{"InvalidImageId.NotFound", config, pool, true, false},
		{"InvalidParameterValue.SubnetIdMalformed", config, pool, true, false},
		{"InvalidParameterValue.VpcIdNotExist", config, pool, true, false},
		{"InvalidParameterValue.TagKeyNotFound", config, pool, true, false},
		{"InvalidParameterCombination", config, pool, true, false},
		{"InvalidParameter.ParameterConflict", config, pool, true, false},
		{"InvalidPassword", config, pool, true, false},
		{"InvalidClientToken.TooLong", config, pool, true, false},
		{"MissingParameter", config, pool, true, false},
		{"MissingParameter.AtLeastOne", config, pool, true, false},
		{"UnknownParameter", config, pool, true, false},
		{"UnsupportedOperation", config, pool, true, false},
		{"UnsupportedProtocol", config, pool, true, false},
		{"InvalidAction", config, pool, true, false},
		{"NoSuchVersion", config, pool, true, false},
		{"RequestSizeLimitExceeded", config, pool, true, false},
		{"ResourceNotFound.KeyPairNotFound", config, pool, true, false},
		{"OperationDenied.ChcInstallCloudImageWithoutDeployNetwork", config, pool, true, false},
		{"VpcIpIsUsed", config, pool, true, false},
		{"VpcAddrNotInSubNet", config, pool, true, false},
		{"SecGroupActionFailure", config, pool, true, false},
		{"FailedOperation.SecurityGroupActionFailed", config, pool, true, false},
		{"AuthFailure.SignatureFailure", auth, pool, true, false},
		{"AuthFailure.SecretIdNotFound", auth, pool, true, false},
		{"AuthFailure.SignatureExpire", auth, pool, true, false},
		{"AuthFailure.TokenFailure", auth, pool, true, false},
		{"AuthFailure.MFAFailure", auth, pool, true, false},
		{"AuthFailure.UnauthorizedOperation", auth, pool, true, false},
		{"AuthFailure.CamRoleNameAuthenticateFailed", auth, pool, true, false},
		{"UnauthorizedOperation", auth, pool, true, false},
		{"UnauthorizedOperation.InvalidToken", auth, pool, true, false},
		{"UnauthorizedOperation.MFAExpired", auth, pool, true, false},
		{"UnauthorizedOperation.PermissionDenied", auth, pool, true, false},
		{"InvalidPermission", auth, pool, true, false},
		{"AccountQualificationRestrictions", auth, pool, true, false},
		{"OperationDenied.AccountNotSupported", auth, pool, true, false},
		{"OperationDenied.InnerUserProhibitAction", auth, pool, true, false},
		{"RequestLimitExceeded", passing, pool, true, true},
		{"RequestLimitExceeded.UinLimitExceeded", passing, pool, true, true},
		{"InvalidParameterValue.InvalidImageState", passing, pool, true, false},
		{"InternalError", passing, pool, false, true},
		{"InternalError.TradeUnknownError", passing, pool, false, true},
		{"InternalServerError", passing, pool, false, true},
		{"MutexOperation.TaskRunning", passing, pool, false, true},
		{"OperationDenied.InstanceOperationInProgress", passing, pool, false, true},
		{"ResourceInUse.DiskRollbacking", passing, pool, false, true},
		{"ClientError.NetworkError", passing, pool, false, true},
		{"ClientError.HttpStatusCodeError", passing, pool, false, true},
		{"ClientError.ParseJsonError", passing, pool, false, true},
		{"ClientError.IOError", passing, pool, false, true},
		{"NeverHeardOf.ThisOne", passing, pool, false, false},
	}
	covered := map[string]bool{}
	sim, client := startSim(t, func(c *Config) { c.MaxAttempts = 2 })
	for _, row := range rows {
		covered[ruleOf(row.code).code] = true
		sim.ClearFaults()
		addFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultError, Code: row.code, Action: "RunInstances", Count: -1})
		before := client.Calls()["RunInstances"]
		_, _, err := client.Launch(t.Context(), testRequest())
		got, retried := cloudError(t, err), client.Calls()["RunInstances"] == before+2
		if got.Class != row.class || got.Scope != row.scope || got.NothingLaunched != row.nothing || retried != row.retry {
			t.Errorf("%s: %s %s nothing=%v retried=%v, want %s %s %v %v", row.code, got.Class, got.Scope, got.NothingLaunched, retried, row.class, row.scope,
				row.nothing, row.retry)
		}
		if got.Code != row.code || got.RequestID == "" || got.Action != "RunInstances" {
			t.Errorf("%s: %+v", row.code, got)
		}
		if row.class == auth && row.code != "OperationDenied.AccountNotSupported" && row.code != "OperationDenied.InnerUserProhibitAction" &&
			got.Remedy.IsZero() {
			t.Errorf("%s: no remedy", row.code)
		}
	}
	for _, r := range rules {
		if !covered[r.code] {
			t.Errorf("no row is about the rule %q", r.code)
		}
	}
}

func noScrub(s string) string { return s }

// Attempts without a response of the API.
func TestErrorsOfTheWay(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	rows := map[string]struct {
		sent    bool
		err     error
		code    string
		nothing bool
		says    string
	}{
		"refused": {false, refused, codeUnreachable, true, "connection refused"},
		"no such name": {
			false, &net.OpError{Op: "dial", Err: &net.DNSError{Name: "cvm.example", IsNotFound: true}}, codeUnreachable, true, "cvm.example is not known",
		},
		"other host":    {true, &refusedHostError{"example.com"}, codeHost, true, "example.com"},
		"reset":         {true, &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, codeNetwork, false, "connection reset"},
		"hung up":       {true, io.EOF, codeNetwork, false, "EOF"},
		"cut short":     {true, io.ErrUnexpectedEOF, codeNetwork, false, "unexpected EOF"},
		"timeout":       {true, os.ErrDeadlineExceeded, codeTimeout, false, "no answer in time"},
		"HTML of a 502": {true, &statusError{502, "(Bad Gateway)"}, codeStatus, false, "502"},
	}
	for name, row := range rows {
		a := &exchange{err: row.err}
		a.sent.Store(row.sent)
		got := classify("RunInstances", "http://127.0.0.1:9170", a, errors.New("as the SDK tells it"), noScrub)
		if got.Code != row.code || got.NothingLaunched != row.nothing || !strings.Contains(got.Error(), row.says) {
			t.Errorf("%s: %+v", name, got.CloudError)
		}
	}
}

func TestErrorsQuoteNoWholeAnswer(t *testing.T) {
	t.Parallel()
	_, page := record(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("<p>Bad Gateway</p>", 1000))
	}))
	long := answering(t, map[string]any{"DescribeInstances": map[string]any{
		"Error": map[string]any{"Code": "FailedOperation", "Message": strings.Repeat("long\n", 1000)}, "RequestId": "request-1",
	}})
	for url, code := range map[string]string{page: "ClientError.ParseJsonError", long: "FailedOperation"} {
		c := testConfig(url)
		c.MaxAttempts = 1
		_, _, err := newClient(t, c).ObserveRegion(t.Context(), testRegion)
		got := cloudError(t, err)
		if got.Code != code || len(got.Message) > 600 || strings.Contains(got.Message, "<p>") || strings.Contains(got.Message, "\n") {
			t.Errorf("%s: %s", got.Code, got.Message)
		}
	}
}
