package tencent

import (
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// rule is the meaning of an error code of Tencent Cloud. A code with "*" at its end is a
// prefix; the longest match counts.
type rule struct {
	code string
	meaning
	remedy reason.Reason // zero if only waiting helps
}

type meaning struct {
	class errorclass.Class
	scope spotpool.ErrorScope
	// retry means that the same request may succeed soon.
	retry bool
	// unknown means that the launch may have taken effect.
	unknown bool
}

var (
	soldOut     = meaning{class: errorclass.Capacity, scope: spotpool.ScopeOffering}
	zoneSoldOut = meaning{class: errorclass.Capacity, scope: spotpool.ScopeZone}
	priceTooLow = meaning{class: errorclass.Price, scope: spotpool.ScopeOffering}
	zoneQuota   = meaning{class: errorclass.Quota, scope: spotpool.ScopeZone}
	quotaUsedUp = meaning{class: errorclass.Quota, scope: spotpool.ScopePool}
	notSold     = meaning{class: errorclass.Configuration, scope: spotpool.ScopeOffering}
	zoneNotSold = meaning{class: errorclass.Configuration, scope: spotpool.ScopeZone}
	mustChange  = meaning{class: errorclass.Configuration, scope: spotpool.ScopePool}
	notAllowed  = meaning{class: errorclass.Authorization, scope: spotpool.ScopePool}
	tooOften    = meaning{class: errorclass.Transient, scope: spotpool.ScopePool, retry: true}
	tryAgain    = meaning{class: errorclass.Transient, scope: spotpool.ScopePool, retry: true, unknown: true}
	tryLater    = meaning{class: errorclass.Transient, scope: spotpool.ScopePool}
	unheardOf   = meaning{class: errorclass.Transient, scope: spotpool.ScopePool, unknown: true}
)

var noRemedy reason.Reason

// permission is what an identity lacks. The call knows both, and names them.
var permission = reason.GrantOwn("", "")

// rules is the one table of error codes. Codes and their meanings are those of
// the SDK's cvm/v20170312/errors.go and of API document 213/33281.
var rules = []rule{
	// No stock is left.
	{"ResourcesSoldOut.SpecifiedInstanceType", soldOut, noRemedy},
	{"ResourceInsufficient.SpecifiedInstanceType", soldOut, noRemedy},
	{"ResourceInsufficient.ZoneSoldOutForSpecifiedInstance", soldOut, noRemedy},
	{"InvalidParameterValue.InsufficientOffering", soldOut, noRemedy},
	{"LimitExceeded.SpotQuota", soldOut, noRemedy},
	{"ResourcesSoldOut.AvailableZone", zoneSoldOut, noRemedy},
	{"ResourceInsufficient.AvailabilityZoneSoldOut", zoneSoldOut, noRemedy},
	{"ResourceInsufficient.CloudDiskSoldOut", zoneSoldOut, reason.TryAnotherDisk()},
	{"ResourceInsufficient.CloudDiskUnavailable", zoneSoldOut, reason.TryAnotherDisk()},
	{"InvalidParameter.InvalidCloudDiskSoldOut", zoneSoldOut, reason.TryAnotherDisk()},
	{"ResourcesSoldOut.EipInsufficient", zoneSoldOut, noRemedy},
	{"FailedOperation.NoAvailableIpAddressCountInSubnet", zoneSoldOut, reason.UseFreeSubnet()},
	{"ResourceInsufficient.CidrBlock", zoneSoldOut, reason.UseFreeSubnet()},
	// "Insufficient subnet IPs", and a subnet is of one zone.
	{"LimitExceeded.VpcSubnetNum", zoneSoldOut, reason.UseFreeSubnet()},
	// "No default CBS resources are available": the zone is out of the disks
	// that an instance gets where none are asked for.
	{"ResourceNotFound.NoDefaultCbs", zoneSoldOut, reason.SetDiskType()},
	{"ResourceNotFound.NoDefaultCbsWithReason", zoneSoldOut, reason.SetDiskType()},
	{"ResourceInsufficient*", soldOut, noRemedy},
	{"ResourcesSoldOut*", soldOut, noRemedy},

	// The cap is below the market.
	{"InvalidParameterValue.InsufficientPrice", priceTooLow, reason.RaiseMaxPrice()},
	{"FailedOperation.InquiryPriceFailed", priceTooLow, noRemedy},

	// The account may not have more.
	{"LimitExceeded.UserSpotQuota", zoneQuota, reason.RaiseQuota()},
	// Another charge type or zone may have some left.
	{"InstancesQuotaLimitExceeded", zoneQuota, reason.RaiseQuota()},
	{"LimitExceeded.CvmInstanceQuota", zoneQuota, reason.RaiseQuota()},
	{"LimitExceeded.InstanceQuota", zoneQuota, reason.RaiseQuota()},
	{"OverQuota", zoneQuota, reason.RaiseQuota()},
	{"LimitExceeded.TagValue", quotaUsedUp, reason.RaiseTagValues()},
	{"LimitExceeded*", quotaUsedUp, reason.RaiseQuota()},
	{"InvalidParameterValue.TagQuotaLimitExceeded", quotaUsedUp, reason.UseFewerTags()},
	{"InvalidAccount.InsufficientBalance", quotaUsedUp, reason.TopUpAccount()},
	{"InvalidAccount.UnpaidOrder", quotaUsedUp, reason.TopUpAccount()},
	{"UnsupportedOperation.NotSupportUnpaidOrder", quotaUsedUp, reason.TopUpAccount()},

	// Not sold in this zone.
	{"ResourceUnavailable.InstanceType", notSold, reason.CorrectOffering()},
	{"InvalidParameterValue.ZoneNotSupported", notSold, reason.CorrectOffering()},
	{"InvalidParameterValue.InstanceTypeNotFound", notSold, reason.CorrectOffering()},
	{"ResourceNotFound.InvalidZoneInstanceType", notSold, reason.CorrectOffering()},
	{"UnsupportedOperation.NoInstanceTypeSupportSpot", notSold, reason.CorrectOffering()},
	// Spot instances are refused, and on-demand ones may be sold.
	{"UnsupportedOperation.SpotUnsupportedRegion", zoneNotSold, reason.LeaveSpot()},
	{"InvalidInstanceChargeType.OnlySupportedForSpot", zoneNotSold, noRemedy},
	// "The specified image does not support the specified instance type."
	{"InvalidParameterValue.InvalidImageForGivenInstanceType", notSold, reason.ChangeImage()},
	{"ResourceUnavailable*", notSold, reason.CorrectOffering()},

	// The declaration must change.
	{"UnsupportedRegion", mustChange, reason.CheckRegion()},
	{"InvalidRegion*", mustChange, reason.CheckRegion()},
	{"InvalidParameterValue.InvalidRegion", mustChange, reason.CheckRegion()},
	{"InvalidZone.MismatchRegion", mustChange, reason.MatchRegion()},
	{"Invalid*", mustChange, reason.CorrectDeclared()},
	{"MissingParameter*", mustChange, reason.CorrectDeclared()},
	{"UnknownParameter", mustChange, noRemedy},
	{"UnsupportedOperation*", mustChange, noRemedy},
	{"UnsupportedProtocol", mustChange, noRemedy},
	{"NoSuchVersion", mustChange, noRemedy},
	{"RequestSizeLimitExceeded", mustChange, noRemedy},
	{"ResourceNotFound*", mustChange, reason.CorrectDeclared()},
	{"InvalidParameterValue.TagKeyNotFound", mustChange, reason.CreateTag()},
	{"OperationDenied*", mustChange, noRemedy},
	{"Vpc*", mustChange, reason.CorrectDeclared()},
	{"SecGroupActionFailure", mustChange, reason.CheckGroups()},
	{"FailedOperation*", mustChange, noRemedy},

	// Credentials or permissions must change.
	{"AuthFailure.SignatureExpire", notAllowed, reason.SetClock()},
	{"AuthFailure.TokenFailure", notAllowed, reason.RenewCredentials()},
	{"AuthFailure.MFAFailure", notAllowed, reason.PassMFA()},
	{"AuthFailure.UnauthorizedOperation", notAllowed, permission},
	{"AuthFailure.CamRoleNameAuthenticateFailed", notAllowed, reason.CheckRoleName()},
	{"AuthFailure*", notAllowed, reason.CheckCredentials()},
	{"UnauthorizedOperation.InvalidToken", notAllowed, reason.RenewCredentials()},
	{"UnauthorizedOperation.MFA*", notAllowed, reason.PassMFA()},
	{"UnauthorizedOperation*", notAllowed, permission},
	{"InvalidPermission", notAllowed, permission},
	{"AccountQualificationRestrictions", notAllowed, reason.VerifyAccount()},
	{"OperationDenied.AccountNotSupported", notAllowed, noRemedy},
	{"OperationDenied.InnerUserProhibitAction", notAllowed, noRemedy},

	// Nothing has to change: the same request may succeed later.
	{"RequestLimitExceeded*", tooOften, noRemedy},
	{"InternalError*", tryAgain, noRemedy},
	{"InternalServerError", tryAgain, noRemedy},
	{"MutexOperation*", tryAgain, noRemedy},
	{"OperationDenied.InstanceOperationInProgress", tryAgain, noRemedy},
	{"ResourceInUse*", tryAgain, noRemedy},
	// "The image has another ongoing task. Please check and try again later."
	{"InvalidParameterValue.InvalidImageState", tryLater, noRemedy},
	{"ClientError*", tryAgain, noRemedy},

	// An unknown code: nothing is certain.
	{"*", unheardOf, noRemedy},
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
