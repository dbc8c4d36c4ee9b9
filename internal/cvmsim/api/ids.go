package api

import (
	"regexp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
)

// The shapes of ids and names.
var (
	ImageID         = regexp.MustCompile(`^img-[a-z0-9]{8}$`)
	KeyID           = regexp.MustCompile(`^skey-[a-z0-9]{8}$`)
	VpcID           = regexp.MustCompile(`^(vpc-[a-z0-9]{8}|DEFAULT)$`)
	SubnetID        = regexp.MustCompile(`^(subnet-[a-z0-9]{8}|DEFAULT)$`)
	SecurityGroupID = regexp.MustCompile(`^sg-[a-z0-9]{8}$`)
	InstanceID      = regexp.MustCompile(`^ins-[a-z0-9]{8}$`)
	TemplateID      = regexp.MustCompile(`^lt-[a-z0-9]{8}$`)
	PlacementSetID  = regexp.MustCompile(`^ps-[a-z0-9]{8}$`)
	RoleName        = regexp.MustCompile(`^[A-Za-z0-9+=,.@_-]{1,128}$`)
)

// CheckID refuses an id that isn't shaped like one of its kind.
func CheckID(pattern *regexp.Regexp, code, id string) *wire.Error {
	if !pattern.MatchString(id) {
		return wire.Fail(code, "The id `%s` is malformed.", wire.Printable(id))
	}
	return nil
}
