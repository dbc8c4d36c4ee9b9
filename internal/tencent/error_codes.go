package tencent

import (
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// rule is the meaning of an error code of Tencent Cloud. A code with "*" at its end is a
// prefix; the longest match counts.
type rule struct {
	code string
	meaning
	remedy string // may be empty
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

const (
	remedySignIn = "Check secret_id and secret_key (or the profile, role or token in use): they must be active and belong together."
	remedyToken  = "The temporary credentials are expired or wrong: get new ones."
	remedyClock  = "Set this machine's clock: requests must be signed within five minutes of Tencent Cloud's time."
	remedyPolicy = "Give the identity of these credentials the CAM permission for the action." // policyRemedy names both
	remedyMFA    = "The account requires multi-factor authentication for this action: use credentials that passed it, or remove the " +
		"requirement."
	remedyBalance   = "Top up the account, or pay its open orders."
	remedyQuota     = "Request a higher quota at https://console.cloud.tencent.com/workorder, or lower maximum."
	remedyTagValues = "The account has reached its limit of values per tag key. Each pool uses one of gpupool/uid and gpupool/pool, and each " +
		"configuration one of gpupool/config. Request a higher limit, or delete unused values in the tag console " +
		"(https://console.cloud.tencent.com/tag)."
	remedySpot     = "Choose another region, or instance_charge_type = \"POSTPAID_BY_HOUR\"."
	remedyRegion   = "Check the region's name: see https://cloud.tencent.com/document/product/213/6091."
	remedySubnet   = "Use a subnet with free addresses."
	remedyDisk     = "Another disk type may be left."
	remedyPrice    = "Raise spot_max_price, or omit it for the market price."
	remedyOffering = "Remove this offering, or correct its availability zone and instance type."
	remedyCorrect  = "Correct the declaration."

	remedyOldJournal = "The journal of the pool is an old copy, which lacks later launches. It gets new tokens, and launches go on in 10 minutes, " +
		"once all earlier instances are listed."
	remedyDefaultDisk = "Set system_disk_type: another type may be left."
)

// rules is the one table of error codes. Codes and their meanings are those of
// the SDK's cvm/v20170312/errors.go and of API document 213/33281.
var rules = []rule{
	// No stock is left.
	{"ResourcesSoldOut.SpecifiedInstanceType", soldOut, ""},
	{"ResourceInsufficient.SpecifiedInstanceType", soldOut, ""},
	{"ResourceInsufficient.ZoneSoldOutForSpecifiedInstance", soldOut, ""},
	{"InvalidParameterValue.InsufficientOffering", soldOut, ""},
	{"LimitExceeded.SpotQuota", soldOut, ""},
	{"ResourcesSoldOut.AvailableZone", zoneSoldOut, ""},
	{"ResourceInsufficient.AvailabilityZoneSoldOut", zoneSoldOut, ""},
	{"ResourceInsufficient.CloudDiskSoldOut", zoneSoldOut, remedyDisk},
	{"ResourceInsufficient.CloudDiskUnavailable", zoneSoldOut, remedyDisk},
	{"InvalidParameter.InvalidCloudDiskSoldOut", zoneSoldOut, remedyDisk},
	{"ResourcesSoldOut.EipInsufficient", zoneSoldOut, ""},
	{"FailedOperation.NoAvailableIpAddressCountInSubnet", zoneSoldOut, remedySubnet},
	{"ResourceInsufficient.CidrBlock", zoneSoldOut, remedySubnet},
	// "Insufficient subnet IPs", and a subnet is of one zone.
	{"LimitExceeded.VpcSubnetNum", zoneSoldOut, remedySubnet},
	// "No default CBS resources are available": the zone is out of the disks
	// that an instance gets where none are asked for.
	{"ResourceNotFound.NoDefaultCbs", zoneSoldOut, remedyDefaultDisk},
	{"ResourceNotFound.NoDefaultCbsWithReason", zoneSoldOut, remedyDefaultDisk},
	{"ResourceInsufficient*", soldOut, ""},
	{"ResourcesSoldOut*", soldOut, ""},

	// The cap is below the market.
	{"InvalidParameterValue.InsufficientPrice", priceTooLow, remedyPrice},
	{"FailedOperation.InquiryPriceFailed", priceTooLow, ""},

	// The account may not have more.
	{"LimitExceeded.UserSpotQuota", zoneQuota, remedyQuota},
	// Another charge type or zone may have some left.
	{"InstancesQuotaLimitExceeded", zoneQuota, remedyQuota},
	{"LimitExceeded.CvmInstanceQuota", zoneQuota, remedyQuota},
	{"LimitExceeded.InstanceQuota", zoneQuota, remedyQuota},
	{"OverQuota", zoneQuota, remedyQuota},
	{"LimitExceeded.TagValue", quotaUsedUp, remedyTagValues},
	{"LimitExceeded*", quotaUsedUp, remedyQuota},
	{"InvalidParameterValue.TagQuotaLimitExceeded", quotaUsedUp, "An instance takes 50 tags: use fewer."},
	{"InvalidAccount.InsufficientBalance", quotaUsedUp, remedyBalance},
	{"InvalidAccount.UnpaidOrder", quotaUsedUp, remedyBalance},
	{"UnsupportedOperation.NotSupportUnpaidOrder", quotaUsedUp, remedyBalance},

	// Not sold in this zone.
	{"ResourceUnavailable.InstanceType", notSold, remedyOffering},
	{"InvalidParameterValue.ZoneNotSupported", notSold, remedyOffering},
	{"InvalidParameterValue.InstanceTypeNotFound", notSold, remedyOffering},
	{"ResourceNotFound.InvalidZoneInstanceType", notSold, remedyOffering},
	{"UnsupportedOperation.NoInstanceTypeSupportSpot", notSold, remedyOffering},
	// Spot instances are refused, and on-demand ones may be sold.
	{"UnsupportedOperation.SpotUnsupportedRegion", zoneNotSold, remedySpot},
	{"InvalidInstanceChargeType.OnlySupportedForSpot", zoneNotSold, ""},
	// "The specified image does not support the specified instance type."
	{"InvalidParameterValue.InvalidImageForGivenInstanceType", notSold, "Take this offering out, or use an image for its instance type."},
	{"ResourceUnavailable*", notSold, remedyOffering},

	// The declaration must change.
	{"UnsupportedRegion", mustChange, remedyRegion},
	{"InvalidRegion*", mustChange, remedyRegion},
	{"InvalidParameterValue.InvalidRegion", mustChange, remedyRegion},
	{"InvalidZone.MismatchRegion", mustChange, "The offering's availability zone must be of the pool's region."},
	{"Invalid*", mustChange, remedyCorrect},
	{"MissingParameter*", mustChange, remedyCorrect},
	{"UnknownParameter", mustChange, ""},
	{"UnsupportedOperation*", mustChange, ""},
	{"UnsupportedProtocol", mustChange, ""},
	{"NoSuchVersion", mustChange, ""},
	{"RequestSizeLimitExceeded", mustChange, ""},
	{"ResourceNotFound*", mustChange, remedyCorrect},
	{"InvalidParameterValue.TagKeyNotFound", mustChange, "Create the tag in the tag console first."},
	{"OperationDenied*", mustChange, ""},
	{"Vpc*", mustChange, remedyCorrect},
	{"SecGroupActionFailure", mustChange, "Check the security groups."},
	{"FailedOperation*", mustChange, ""},

	// Credentials or permissions must change.
	{"AuthFailure.SignatureExpire", notAllowed, remedyClock},
	{"AuthFailure.TokenFailure", notAllowed, remedyToken},
	{"AuthFailure.MFAFailure", notAllowed, remedyMFA},
	{"AuthFailure.UnauthorizedOperation", notAllowed, remedyPolicy},
	{"AuthFailure.CamRoleNameAuthenticateFailed", notAllowed, "Check cam_role_name, and that this identity may pass that role."},
	{"AuthFailure*", notAllowed, remedySignIn},
	{"UnauthorizedOperation.InvalidToken", notAllowed, remedyToken},
	{"UnauthorizedOperation.MFA*", notAllowed, remedyMFA},
	{"UnauthorizedOperation*", notAllowed, remedyPolicy},
	{"InvalidPermission", notAllowed, remedyPolicy},
	{"AccountQualificationRestrictions", notAllowed, "The account must complete its real-name verification first."},
	{"OperationDenied.AccountNotSupported", notAllowed, ""},
	{"OperationDenied.InnerUserProhibitAction", notAllowed, ""},

	// Nothing has to change: the same request may succeed later.
	{"RequestLimitExceeded*", tooOften, ""},
	{"InternalError*", tryAgain, ""},
	{"InternalServerError", tryAgain, ""},
	{"MutexOperation*", tryAgain, ""},
	{"OperationDenied.InstanceOperationInProgress", tryAgain, ""},
	{"ResourceInUse*", tryAgain, ""},
	// "The image has another ongoing task. Please check and try again later."
	{"InvalidParameterValue.InvalidImageState", tryLater, ""},
	{"ClientError*", tryAgain, ""},

	// An unknown code: nothing is certain.
	{"*", unheardOf, ""},
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
