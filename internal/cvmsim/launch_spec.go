package cvmsim

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of RunInstances (cvm models.go, RunInstancesRequest).
const (
	maxInstanceCount  = 500
	maxFixedAddresses = 20
	maxNameRunes      = 128
	maxUserData       = 16 << 10
	maxClientToken    = 64
	maxDataDisks      = 21
)

// launch is what is to be launched.
type launch struct {
	sku       sku
	count     int64
	template  instance // what all have in common
	tags      []Tag
	addresses []string // fixed ones, or none
	months    int64    // of a prepaid term
	renew     string   // at the end of it
}

// launchSpec is a launch request that has passed every check that needs no
// look at the market.
type launchSpec struct {
	launch
	itype *instanceType
	bid   money // 0 = the market price
}

// namePattern counts the instances of a launch in their names.
var namePattern = regexp.MustCompile(`\{R:(\d{1,9})\}`)

var (
	typeName  = regexp.MustCompile(`^[A-Za-z0-9]+\.[A-Z0-9]+$`)
	hostLabel = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$`)
)

// The shapes of ids and names.
var (
	imageID         = regexp.MustCompile(`^img-[a-z0-9]{8}$`)
	keyID           = regexp.MustCompile(`^skey-[a-z0-9]{8}$`)
	vpcID           = regexp.MustCompile(`^(vpc-[a-z0-9]{8}|DEFAULT)$`)
	subnetID        = regexp.MustCompile(`^(subnet-[a-z0-9]{8}|DEFAULT)$`)
	securityGroupID = regexp.MustCompile(`^sg-[a-z0-9]{8}$`)
	instanceID      = regexp.MustCompile(`^ins-[a-z0-9]{8}$`)
	templateID      = regexp.MustCompile(`^lt-[a-z0-9]{8}$`)
	placementSetID  = regexp.MustCompile(`^ps-[a-z0-9]{8}$`)
	roleName        = regexp.MustCompile(`^[A-Za-z0-9+=,.@_-]{1,128}$`)
)

// checkID refuses an id that isn't shaped like one of its kind.
func checkID(pattern *regexp.Regexp, code, id string) *apiError {
	if !pattern.MatchString(id) {
		return fail(code, "The id `%s` is malformed.", printable(id))
	}
	return nil
}

// readLaunch checks launch parameters in the order in which the API would
// complain: shape first, then what can be bought where.
func readLaunch(regionID string, p launchParams, now time.Time) (launchSpec, *apiError) {
	var s launchSpec
	steps := []func(*launchSpec, launchParams) *apiError{
		readCount, readPlacement, readType(regionID), readImage, readNetwork, readNames, readLogin,
		readUserData, readDisks, readMarket, readTagSpecification, readMisc(now),
	}
	for _, step := range steps {
		if failure := step(&s, p); failure != nil {
			return s, failure
		}
	}
	s.template.Region, s.template.Zone, s.template.Type, s.template.ChargeType = regionID, s.sku.Zone, s.sku.Type, s.sku.Charge
	return s, nil
}

func readCount(s *launchSpec, p launchParams) *apiError {
	s.count = or(p.InstanceCount, 1)
	if s.count < 1 || s.count > maxInstanceCount {
		return fail("InvalidParameterValue.Range", "`InstanceCount` must be from 1 to %d, not %d.", maxInstanceCount, s.count)
	}
	token := or(p.ClientToken, "")
	if len(token) > maxClientToken {
		return fail("InvalidClientToken.TooLong", "`ClientToken` must have at most %d characters.", maxClientToken)
	}
	for _, r := range token {
		if r > '~' || r < ' ' {
			return fail("InvalidParameterValue", "`ClientToken` must be ASCII.")
		}
	}
	return nil
}

func readPlacement(s *launchSpec, p launchParams) *apiError {
	if p.Placement == nil {
		return missing("Placement")
	}
	if s.sku.Zone = or(p.Placement.Zone, ""); s.sku.Zone == "" {
		return missing("Placement.Zone")
	}
	if p.Placement.HostID != nil || len(p.Placement.HostIDs) > 0 {
		return fail("InvalidHost.NotSupported", "Dedicated hosts are not sold here.")
	}
	if s.template.ProjectID = or(p.Placement.ProjectID, 0); s.template.ProjectID < 0 {
		return fail("InvalidProjectId.NotFound", "The project %d does not exist.", s.template.ProjectID)
	}
	return nil
}

func readType(regionID string) func(*launchSpec, launchParams) *apiError {
	return func(s *launchSpec, p launchParams) *apiError {
		if failure := checkZone(regionID, s.sku.Zone); failure != nil {
			return failure
		}
		s.sku.Type = or(p.InstanceType, "S5.MEDIUM4")
		if !typeName.MatchString(s.sku.Type) {
			return fail("InvalidInstanceType.Malformed", "The instance type `%s` is malformed.", printable(s.sku.Type))
		}
		if s.itype = instanceTypes[s.sku.Type]; s.itype == nil {
			return fail("InvalidParameterValue.InstanceTypeNotFound", "The instance type `%s` does not exist.", s.sku.Type)
		}
		return nil
	}
}

// checkZone refuses a zone that isn't one of the region, or sells nothing.
func checkZone(regionID, zoneID string) *apiError {
	if zoneRegion[zoneID] != regions[regionID] {
		return fail("InvalidZone.MismatchRegion", "The zone `%s` does not belong to the region `%s`.", printable(zoneID), regionID)
	}
	if zones[zoneID].Retired {
		return fail("InvalidParameterValue.ZoneNotSupported", "The zone `%s` is not supported.", zoneID)
	}
	return nil
}

func readImage(s *launchSpec, p launchParams) *apiError {
	if s.template.ImageID = or(p.ImageID, ""); s.template.ImageID == "" {
		return missing("ImageId")
	}
	return checkID(imageID, "InvalidImageId.Malformed", s.template.ImageID)
}

func readNames(s *launchSpec, p launchParams) *apiError {
	s.template.Name, s.template.HostName = or(p.InstanceName, ""), or(p.HostName, "")
	if utf8.RuneCountInString(s.template.Name) > maxNameRunes {
		return fail("InvalidInstanceName.TooLong", "`InstanceName` must have at most %d characters.", maxNameRunes)
	}
	return checkHostName(s.template.HostName)
}

func checkHostName(name string) *apiError {
	if name == "" {
		return nil
	}
	bare := namePattern.ReplaceAllString(name, "1")
	if len(bare) < 2 || len(bare) > 60 {
		return fail("InvalidParameterValue.IllegalHostName", "`HostName` must have 2 to 60 characters.")
	}
	for _, label := range strings.Split(bare, ".") {
		if !hostLabel.MatchString(label) || strings.Contains(label, "--") {
			return fail("InvalidParameterValue.IllegalHostName", "`HostName` is not a host name.")
		}
	}
	return nil
}

func readTagSpecification(s *launchSpec, p launchParams) *apiError {
	for _, spec := range p.TagSpecification {
		if kind := or(spec.ResourceType, ""); kind != "instance" {
			return fail("InvalidParameterValue", "`TagSpecification.ResourceType` must be instance, not `%s`.", printable(kind))
		}
		for _, t := range spec.Tags {
			s.tags = append(s.tags, Tag{Key: or(t.Key, ""), Value: or(t.Value, "")})
		}
	}
	return checkLaunchTags(s.tags)
}

func readMisc(now time.Time) func(*launchSpec, launchParams) *apiError {
	return func(s *launchSpec, p launchParams) *apiError {
		if len(p.DisasterRecoverGroupIDs) > 1 {
			return fail("InvalidParameterValue.LimitExceeded", "Only one `DisasterRecoverGroupIds` may be given.")
		}
		for _, id := range p.DisasterRecoverGroupIDs {
			if failure := checkID(placementSetID, "InvalidParameterValue.DisasterRecoverGroupIdMalformed", id); failure != nil {
				return failure
			}
			s.template.DisasterRecoverGroupID = id
		}
		if s.template.CamRoleName = or(p.CamRoleName, ""); s.template.CamRoleName != "" {
			if failure := checkID(roleName, "InvalidParameterValue.CamRoleNameMalformed", s.template.CamRoleName); failure != nil {
				return failure
			}
		}
		s.template.Protected = or(p.DisableAPITermination, false)
		return readTimer(s, p.ActionTimer, now)
	}
}

// readTimer takes the timed termination, which must be five minutes ahead
// (cvm models.go, ActionTimer).
func readTimer(s *launchSpec, timer *actionTimerParams, now time.Time) *apiError {
	if timer == nil {
		return nil
	}
	if or(timer.TimerAction, "") != "TerminateInstances" {
		return fail("InvalidParameterValue", "`ActionTimer.TimerAction` must be TerminateInstances.")
	}
	at, err := time.Parse(time.RFC3339, or(timer.ActionTime, ""))
	if err != nil {
		return fail("InvalidParameterValue.InvalidTimeFormat", "`ActionTimer.ActionTime` must look like 2018-05-29T11:26:40Z.")
	}
	if at.Before(now.Add(5 * time.Minute)) {
		return fail("InvalidParameterValue.Range", "`ActionTimer.ActionTime` must be at least five minutes ahead.")
	}
	s.template.TimerAt = at
	return nil
}
