package wire

import "regexp"

// Form is the form of one kind of ID, or of names.
type Form struct {
	pattern *regexp.Regexp
	code    string // of CVM's error
}

func form(pattern, code string) Form { return Form{pattern: regexp.MustCompile(pattern), code: code} }

// The forms of IDs and names.
var (
	ImageID         = form(`^img-[a-z0-9]{8}$`, "InvalidImageId.Malformed")
	KeyID           = form(`^skey-[a-z0-9]{8}$`, "InvalidKeyPairId.Malformed")
	VpcID           = form(`^(vpc-[a-z0-9]{8}|DEFAULT)$`, "InvalidParameterValue.VpcIdMalformed")
	SubnetID        = form(`^(subnet-[a-z0-9]{8}|DEFAULT)$`, "InvalidParameterValue.SubnetIdMalformed")
	SecurityGroupID = form(`^sg-[a-z0-9]{8}$`, "InvalidSgId.Malformed")
	InstanceID      = form(`^ins-[a-z0-9]{8}$`, "InvalidInstanceId.Malformed")
	PlacementSetID  = form(`^ps-[a-z0-9]{8}$`, "InvalidParameterValue.DisasterRecoverGroupIdMalformed")
	RoleName        = form(`^[A-Za-z0-9+=,.@_-]{1,128}$`, "InvalidParameterValue.CamRoleNameMalformed")
)

// Fits reports whether an ID has the form.
func (f Form) Fits(id string) bool { return f.pattern.MatchString(id) }

// Check rejects the first ID that does not have the form.
func (f Form) Check(ids ...string) *Error {
	for _, id := range ids {
		if !f.Fits(id) {
			return Fail(f.code, "The id `%s` is malformed.", Printable(id))
		}
	}
	return nil
}
