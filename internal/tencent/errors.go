package tencent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tcerrors "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/errors"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// rule says what an error code of the cloud means. A code ending in "*" stands
// for all that begin with the rest; the longest match counts.
type rule struct {
	code  string
	class spotpool.ErrorClass
	scope spotpool.ErrorScope
	// unknown marks codes that leave open whether a launch took effect.
	unknown bool
	// retry marks codes against which the same request soon again helps.
	retry  bool
	remedy string
}

const (
	remedySignIn    = "Check secret_id and secret_key (or the profile, role or token in use): they must be active and belong together."
	remedyToken     = "The temporary credentials are expired or wrong: get new ones."
	remedyClock     = "Set this machine's clock: requests must be signed within five minutes of the cloud's time."
	remedyPolicy    = "Give this identity the CAM permission for the action."
	remedyMFA       = "The account asks for multi-factor authentication on this action: use credentials that passed it, or take the protection off the action."
	remedyBalance   = "Top up the account, or pay its open orders."
	remedyQuota     = "Ask for a higher quota at https://console.cloud.tencent.com/workorder, or lower maximum."
	remedyTagValues = "The account has used up how many values a tag key may have: gpupool/uid and gpupool/pool take one a pool, gpupool/config one a configuration. Ask for a higher limit, or delete unused values in the tag console (https://console.cloud.tencent.com/tag)."
	remedySpot      = "Choose another region, or instance_charge_type = \"POSTPAID_BY_HOUR\"."
	remedyRegion    = "Check the region's name: see https://cloud.tencent.com/document/product/213/6091."
	remedySubnet    = "Use a subnet with free addresses."
	remedyDisk      = "Another disk type may be left."
	remedyPrice     = "Raise max_price, or leave it out for the market price."
	remedyOffering  = "Take this offering out, or correct its availability zone and instance type."
	remedyCorrect   = "Correct the declaration."

	remedyDefaultDisk = "Name a type in system_disk: another one may be left."
)

// rules is the one table of error codes. Codes and their meanings are those of
// the SDK's cvm/v20170312/errors.go and of API document 213/33281.
var rules = []rule{
	// None left here.
	{code: "ResourcesSoldOut.SpecifiedInstanceType", class: spotpool.ClassCapacity, scope: spotpool.ScopeOffering},
	{code: "ResourceInsufficient.SpecifiedInstanceType", class: spotpool.ClassCapacity, scope: spotpool.ScopeOffering},
	{code: "ResourceInsufficient.ZoneSoldOutForSpecifiedInstance", class: spotpool.ClassCapacity, scope: spotpool.ScopeOffering},
	{code: "InvalidParameterValue.InsufficientOffering", class: spotpool.ClassCapacity, scope: spotpool.ScopeOffering},
	{code: "LimitExceeded.SpotQuota", class: spotpool.ClassCapacity, scope: spotpool.ScopeOffering},
	{code: "ResourcesSoldOut.AvailableZone", class: spotpool.ClassCapacity, scope: spotpool.ScopeZone},
	{code: "ResourceInsufficient.AvailabilityZoneSoldOut", class: spotpool.ClassCapacity, scope: spotpool.ScopeZone},
	{code: "ResourceInsufficient.CloudDiskSoldOut", class: spotpool.ClassCapacity, scope: spotpool.ScopeZone, remedy: remedyDisk},
	{code: "ResourceInsufficient.CloudDiskUnavailable", class: spotpool.ClassCapacity, scope: spotpool.ScopeZone, remedy: remedyDisk},
	{code: "InvalidParameter.InvalidCloudDiskSoldOut", class: spotpool.ClassCapacity, scope: spotpool.ScopeZone, remedy: remedyDisk},
	{code: "ResourcesSoldOut.EipInsufficient", class: spotpool.ClassCapacity, scope: spotpool.ScopeZone},
	{code: "FailedOperation.NoAvailableIpAddressCountInSubnet", class: spotpool.ClassCapacity, scope: spotpool.ScopeZone, remedy: remedySubnet},
	{code: "ResourceInsufficient.CidrBlock", class: spotpool.ClassCapacity, scope: spotpool.ScopeZone, remedy: remedySubnet},
	// "Insufficient subnet IPs": a subnet is of one zone.
	{code: "LimitExceeded.VpcSubnetNum", class: spotpool.ClassCapacity, scope: spotpool.ScopeZone, remedy: remedySubnet},
	// "No default CBS resources are available": the zone is out of the disks
	// that an instance gets where none are asked for.
	{code: "ResourceNotFound.NoDefaultCbs", class: spotpool.ClassCapacity, scope: spotpool.ScopeZone, remedy: remedyDefaultDisk},
	{code: "ResourceNotFound.NoDefaultCbsWithReason", class: spotpool.ClassCapacity, scope: spotpool.ScopeZone, remedy: remedyDefaultDisk},
	{code: "ResourceInsufficient*", class: spotpool.ClassCapacity, scope: spotpool.ScopeOffering},
	{code: "ResourcesSoldOut*", class: spotpool.ClassCapacity, scope: spotpool.ScopeOffering},

	// The cap is below the market.
	{code: "InvalidParameterValue.InsufficientPrice", class: spotpool.ClassPrice, scope: spotpool.ScopeOffering, remedy: remedyPrice},
	{code: "FailedOperation.InquiryPriceFailed", class: spotpool.ClassPrice, scope: spotpool.ScopeOffering},

	// The account may not have more.
	{code: "LimitExceeded.UserSpotQuota", class: spotpool.ClassQuota, scope: spotpool.ScopeZone, remedy: remedyQuota},
	{code: "InstancesQuotaLimitExceeded", class: spotpool.ClassQuota, scope: spotpool.ScopePool, remedy: remedyQuota},
	{code: "LimitExceeded.CvmInstanceQuota", class: spotpool.ClassQuota, scope: spotpool.ScopePool, remedy: remedyQuota},
	{code: "LimitExceeded.InstanceQuota", class: spotpool.ClassQuota, scope: spotpool.ScopePool, remedy: remedyQuota},
	{code: "LimitExceeded.TagValue", class: spotpool.ClassQuota, scope: spotpool.ScopePool, remedy: remedyTagValues},
	{code: "LimitExceeded*", class: spotpool.ClassQuota, scope: spotpool.ScopePool, remedy: remedyQuota},
	{code: "OverQuota", class: spotpool.ClassQuota, scope: spotpool.ScopePool, remedy: remedyQuota},
	{code: "InvalidParameterValue.TagQuotaLimitExceeded", class: spotpool.ClassQuota, scope: spotpool.ScopePool, remedy: "An instance takes 50 tags: use fewer."},
	{code: "InvalidAccount.InsufficientBalance", class: spotpool.ClassQuota, scope: spotpool.ScopePool, remedy: remedyBalance},
	{code: "InvalidAccount.UnpaidOrder", class: spotpool.ClassQuota, scope: spotpool.ScopePool, remedy: remedyBalance},
	{code: "UnsupportedOperation.NotSupportUnpaidOrder", class: spotpool.ClassQuota, scope: spotpool.ScopePool, remedy: remedyBalance},

	// Not sold in this zone.
	{code: "ResourceUnavailable.InstanceType", class: spotpool.ClassConfiguration, scope: spotpool.ScopeOffering, remedy: remedyOffering},
	{code: "InvalidParameterValue.ZoneNotSupported", class: spotpool.ClassConfiguration, scope: spotpool.ScopeOffering, remedy: remedyOffering},
	{code: "InvalidParameterValue.InstanceTypeNotFound", class: spotpool.ClassConfiguration, scope: spotpool.ScopeOffering, remedy: remedyOffering},
	{code: "ResourceNotFound.InvalidZoneInstanceType", class: spotpool.ClassConfiguration, scope: spotpool.ScopeOffering, remedy: remedyOffering},
	{code: "UnsupportedOperation.NoInstanceTypeSupportSpot", class: spotpool.ClassConfiguration, scope: spotpool.ScopeOffering, remedy: remedyOffering},
	// "The specified image does not support the specified instance type."
	{code: "InvalidParameterValue.InvalidImageForGivenInstanceType", class: spotpool.ClassConfiguration, scope: spotpool.ScopeOffering, remedy: "Take this offering out, or use an image for its instance type."},
	{code: "ResourceUnavailable*", class: spotpool.ClassConfiguration, scope: spotpool.ScopeOffering, remedy: remedyOffering},

	// The declaration must change.
	{code: "UnsupportedOperation.SpotUnsupportedRegion", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool, remedy: remedySpot},
	{code: "InvalidInstanceChargeType.OnlySupportedForSpot", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool},
	{code: "UnsupportedRegion", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool, remedy: remedyRegion},
	{code: "InvalidRegion*", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool, remedy: remedyRegion},
	{code: "InvalidParameterValue.InvalidRegion", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool, remedy: remedyRegion},
	{code: "InvalidZone.MismatchRegion", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool, remedy: "The offering's availability zone must be of the pool's region."},
	{code: "Invalid*", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool, remedy: remedyCorrect},
	{code: "MissingParameter*", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool, remedy: remedyCorrect},
	{code: "UnknownParameter", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool},
	{code: "UnsupportedOperation*", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool},
	{code: "UnsupportedProtocol", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool},
	{code: "NoSuchVersion", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool},
	{code: "RequestSizeLimitExceeded", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool},
	{code: "ResourceNotFound*", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool, remedy: remedyCorrect},
	{code: "InvalidParameterValue.TagKeyNotFound", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool, remedy: "Create the tag in the tag console first."},
	{code: "OperationDenied*", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool},
	{code: "Vpc*", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool, remedy: remedyCorrect},
	{code: "SecGroupActionFailure", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool, remedy: "Check the security groups."},
	{code: "FailedOperation*", class: spotpool.ClassConfiguration, scope: spotpool.ScopePool},

	// Credentials or permissions must change.
	{code: "AuthFailure.SignatureExpire", class: spotpool.ClassAuthorisation, scope: spotpool.ScopePool, remedy: remedyClock},
	{code: "AuthFailure.TokenFailure", class: spotpool.ClassAuthorisation, scope: spotpool.ScopePool, remedy: remedyToken},
	{code: "AuthFailure.MFAFailure", class: spotpool.ClassAuthorisation, scope: spotpool.ScopePool, remedy: remedyMFA},
	{code: "AuthFailure.UnauthorizedOperation", class: spotpool.ClassAuthorisation, scope: spotpool.ScopePool, remedy: remedyPolicy},
	{code: "AuthFailure.CamRoleNameAuthenticateFailed", class: spotpool.ClassAuthorisation, scope: spotpool.ScopePool, remedy: "Check cam_role_name, and that this identity may pass that role."},
	{code: "AuthFailure*", class: spotpool.ClassAuthorisation, scope: spotpool.ScopePool, remedy: remedySignIn},
	{code: "UnauthorizedOperation.InvalidToken", class: spotpool.ClassAuthorisation, scope: spotpool.ScopePool, remedy: remedyToken},
	{code: "UnauthorizedOperation.MFA*", class: spotpool.ClassAuthorisation, scope: spotpool.ScopePool, remedy: remedyMFA},
	{code: "UnauthorizedOperation*", class: spotpool.ClassAuthorisation, scope: spotpool.ScopePool, remedy: remedyPolicy},
	{code: "InvalidPermission", class: spotpool.ClassAuthorisation, scope: spotpool.ScopePool, remedy: remedyPolicy},
	{code: "AccountQualificationRestrictions", class: spotpool.ClassAuthorisation, scope: spotpool.ScopePool, remedy: "The account must complete its real-name verification first."},
	{code: "OperationDenied.AccountNotSupported", class: spotpool.ClassAuthorisation, scope: spotpool.ScopePool},
	{code: "OperationDenied.InnerUserProhibitAction", class: spotpool.ClassAuthorisation, scope: spotpool.ScopePool},

	// The same again, later.
	{code: "RequestLimitExceeded*", class: spotpool.ClassTransient, scope: spotpool.ScopePool, retry: true},
	{code: "InternalError*", class: spotpool.ClassTransient, scope: spotpool.ScopePool, retry: true, unknown: true},
	{code: "InternalServerError", class: spotpool.ClassTransient, scope: spotpool.ScopePool, retry: true, unknown: true},
	{code: "MutexOperation*", class: spotpool.ClassTransient, scope: spotpool.ScopePool, retry: true, unknown: true},
	{code: "OperationDenied.InstanceOperationInProgress", class: spotpool.ClassTransient, scope: spotpool.ScopePool, retry: true, unknown: true},
	{code: "ResourceInUse*", class: spotpool.ClassTransient, scope: spotpool.ScopePool, retry: true, unknown: true},
	// "The image has another ongoing task. Please check and try again later."
	{code: "InvalidParameterValue.InvalidImageState", class: spotpool.ClassTransient, scope: spotpool.ScopePool},
	{code: "ClientError*", class: spotpool.ClassTransient, scope: spotpool.ScopePool, retry: true, unknown: true},

	// A code that nobody has heard of: nothing is certain.
	{code: "*", class: spotpool.ClassTransient, scope: spotpool.ScopePool, unknown: true},
}

func ruleOf(code string) rule {
	var best rule
	length := -1
	for _, r := range rules {
		prefix, isPrefix := strings.CutSuffix(r.code, "*")
		switch {
		case !isPrefix && r.code == code:
			return r
		case isPrefix && strings.HasPrefix(code, prefix) && len(prefix) > length:
			best, length = r, len(prefix)
		}
	}
	return best
}

// The codes of failures that never reached the API or never came back from it,
// beside those of the SDK.
const (
	CodeUnreachable = "ClientError.Unreachable"
	codeNetwork     = "ClientError.NetworkError"
	codeStatus      = "ClientError.HttpStatusCodeError"
	codeTimeout     = "ClientError.Timeout"
	codeCancelled   = "ClientError.Cancelled"
	codeHost        = "ClientError.HostRefused"
	codeCredentials = "ClientError.Credentials"
)

// failure is one failed attempt: what to report, and whether to try again.
type failure struct {
	*spotpool.CloudError
	retry       bool
	unreachable bool
	staleToken  bool        // the temporary credentials were refused
	used        credentials // the ones that were
}

// classify says what a failed attempt means. scrub takes secrets out of texts.
func classify(action, address string, a *attempt, err error, scrub func(string) string) failure {
	cloud := &spotpool.CloudError{Action: action, RequestID: a.requestID}
	f := failure{CloudError: cloud}
	var refused *refusedHostError
	var status *statusError
	var api *tcerrors.TencentCloudSDKError
	switch {
	case errors.As(a.err, &refused):
		cloud.Code, cloud.Message = codeHost, refused.Error()
		cloud.Class, cloud.Scope, cloud.NothingLaunched = spotpool.ClassConfiguration, spotpool.ScopePool, true
		return f
	case a.err != nil && neverSent(a):
		cloud.Code = CodeUnreachable
		cloud.Message = fmt.Sprintf("no connection to %s: %s.", address, whyUnreachable(a.err))
		cloud.Remedy = "Check the endpoint (endpoint, GPUPOOL_ENDPOINT, domain) and the network."
		cloud.Class, cloud.Scope, cloud.NothingLaunched = spotpool.ClassTransient, spotpool.ScopePool, true
		f.retry, f.unreachable = true, true
		return f
	case errors.As(a.err, &status):
		cloud.Code, cloud.Message = codeStatus, fmt.Sprintf("%s answered %s", address, status)
	case errors.Is(a.err, context.DeadlineExceeded) || isTimeout(a.err):
		cloud.Code, cloud.Message = codeTimeout, fmt.Sprintf("%s gave no answer in time", address)
	case a.err != nil:
		cloud.Code, cloud.Message = codeNetwork, fmt.Sprintf("%s: %v", address, a.err)
	case errors.As(err, &api):
		cloud.Code, cloud.Message = api.GetCode(), api.GetMessage()
		if api.GetRequestId() != "" {
			cloud.RequestID = api.GetRequestId()
		}
		if strings.HasPrefix(cloud.Code, "ClientError.ParseJson") {
			// Its message quotes the whole answer.
			cloud.Message = fmt.Sprintf("%s answered something that is no JSON of the API", address)
		}
	default:
		cloud.Code, cloud.Message = codeNetwork, err.Error()
	}
	r := ruleOf(cloud.Code)
	cloud.Class, cloud.Scope, cloud.Remedy = r.class, r.scope, r.remedy
	cloud.NothingLaunched = !r.unknown
	cloud.Message = scrub(shorten(cloud.Message))
	f.retry = r.retry
	return f
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

// shorten keeps a message to what a person reads, on one line.
func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > 500 {
		return string(runes[:500]) + "…"
	}
	return s
}

// cancelled is the end of a call by its context. Both the context's error and a
// CloudError are in its chain.
func cancelled(action string, nothing bool, cause error) error {
	code := codeCancelled
	if errors.Is(cause, context.DeadlineExceeded) {
		code = codeTimeout
	}
	outcome := "whether it took effect is unknown"
	if nothing {
		outcome = "it was not sent"
	}
	return &interrupted{
		CloudError: &spotpool.CloudError{
			Class: spotpool.ClassTransient, Scope: spotpool.ScopePool, NothingLaunched: nothing,
			Action: action, Code: code, Message: "interrupted: " + outcome,
		},
		cause: cause,
	}
}

type interrupted struct {
	*spotpool.CloudError
	cause error
}

func (e *interrupted) Unwrap() []error { return []error{e.CloudError, e.cause} }

// without takes a text, should the cloud quote it, out of an error's message.
func without(err error, text, instead string) error {
	if cloud, ok := spotpool.AsCloudError(err); ok && text != "" {
		cloud.Message = strings.ReplaceAll(cloud.Message, text, instead)
	}
	return err
}

// isCode says whether err is the cloud's error of that code.
func isCode(err error, code string) bool {
	cloud, ok := spotpool.AsCloudError(err)
	return ok && cloud.Code == code
}
