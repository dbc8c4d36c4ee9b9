package cvm

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/launch"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
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

// launchSpec is a launch request that passed every check except those of the market.
type launchSpec struct {
	world.Launch
	itype *world.InstanceType
	bid   world.Money // 0 = the market price
}

var (
	typeName  = regexp.MustCompile(`^[A-Za-z0-9]+\.[A-Z0-9]+$`)
	hostLabel = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$`)
)

// readLaunch checks launch parameters in the order of the API: first the form, then what is sold
// where.
func readLaunch(regionID string, p launch.Params, now time.Time) (launchSpec, *wire.Error) {
	var s launchSpec
	steps := []func(*launchSpec, launch.Params) *wire.Error{
		readCount, readPlacement, readType(regionID), readImage, readNetwork, readNames, readLogin,
		readUserData, readDisks, readMarket, readTagSpecification, readMisc(now),
	}
	for _, step := range steps {
		if failure := step(&s, p); failure != nil {
			return s, failure
		}
	}
	s.Instance.Region, s.Instance.Zone, s.Instance.Type, s.Instance.ChargeType = regionID, s.SKU.Zone, s.SKU.Type, s.SKU.Charge
	return s, nil
}

func checkValue(name, value string, known ...string) *wire.Error {
	if slices.Contains(known, value) {
		return nil
	}
	return wire.Fail("InvalidParameterValue", "`%s` has no value `%s`.", name, wire.Printable(value))
}

func readCount(s *launchSpec, p launch.Params) *wire.Error {
	s.Count = wire.Or(p.InstanceCount, 1)
	if s.Count < 1 || s.Count > maxInstanceCount {
		return wire.Fail("InvalidParameterValue.Range", "`InstanceCount` must be from 1 to %d, not %d.", maxInstanceCount, s.Count)
	}
	token := wire.Or(p.ClientToken, "")
	if len(token) > maxClientToken {
		return wire.Fail("InvalidClientToken.TooLong", "`ClientToken` must have at most %d characters.", maxClientToken)
	}
	for _, r := range token {
		if r > '~' || r < ' ' {
			return wire.Fail("InvalidParameterValue", "`ClientToken` must be ASCII.")
		}
	}
	return nil
}

func readPlacement(s *launchSpec, p launch.Params) *wire.Error {
	if p.Placement == nil {
		return wire.Missing("Placement")
	}
	if s.SKU.Zone = wire.Or(p.Placement.Zone, ""); s.SKU.Zone == "" {
		return wire.Missing("Placement.Zone")
	}
	if p.Placement.HostID != nil || len(p.Placement.HostIDs) > 0 {
		return wire.Fail("InvalidHost.NotSupported", "Dedicated hosts are not sold here.")
	}
	if s.Instance.ProjectID = wire.Or(p.Placement.ProjectID, 0); s.Instance.ProjectID < 0 {
		return wire.Fail("InvalidProjectId.NotFound", "The project %d does not exist.", s.Instance.ProjectID)
	}
	return nil
}

func readType(regionID string) func(*launchSpec, launch.Params) *wire.Error {
	return func(s *launchSpec, p launch.Params) *wire.Error {
		if failure := checkZones(regionID, s.SKU.Zone); failure != nil {
			return failure
		}
		if world.ZoneByID[s.SKU.Zone].Retired {
			return wire.Fail("InvalidParameterValue.ZoneNotSupported", "The zone `%s` is not supported.", s.SKU.Zone)
		}
		s.SKU.Type = wire.Or(p.InstanceType, "S5.MEDIUM4")
		if !typeName.MatchString(s.SKU.Type) {
			return wire.Fail("InvalidInstanceType.Malformed", "The instance type `%s` is malformed.", wire.Printable(s.SKU.Type))
		}
		if s.itype = world.TypeByName[s.SKU.Type]; s.itype == nil {
			return wire.Fail("InvalidParameterValue.InstanceTypeNotFound", "The instance type `%s` does not exist.", s.SKU.Type)
		}
		return nil
	}
}

func readImage(s *launchSpec, p launch.Params) *wire.Error {
	if s.Instance.ImageID = wire.Or(p.ImageID, ""); s.Instance.ImageID == "" {
		return wire.Missing("ImageId")
	}
	return wire.ImageID.Check(s.Instance.ImageID)
}

func readNames(s *launchSpec, p launch.Params) *wire.Error {
	s.Instance.Name, s.Instance.HostName = wire.Or(p.InstanceName, ""), wire.Or(p.HostName, "")
	if utf8.RuneCountInString(s.Instance.Name) > maxNameRunes {
		return wire.Fail("InvalidInstanceName.TooLong", "`InstanceName` must have at most %d characters.", maxNameRunes)
	}
	return checkHostName(s.Instance.HostName)
}

func checkHostName(name string) *wire.Error {
	if name == "" {
		return nil
	}
	bare := world.NamePattern.ReplaceAllString(name, "1")
	if len(bare) < 2 || len(bare) > 60 {
		return wire.Fail("InvalidParameterValue.IllegalHostName", "`HostName` must have 2 to 60 characters.")
	}
	for _, label := range strings.Split(bare, ".") {
		if !hostLabel.MatchString(label) || strings.Contains(label, "--") {
			return wire.Fail("InvalidParameterValue.IllegalHostName", "`HostName` is not a host name.")
		}
	}
	return nil
}

func readTagSpecification(s *launchSpec, p launch.Params) *wire.Error {
	for _, spec := range p.TagSpecification {
		if kind := wire.Or(spec.ResourceType, ""); kind != "instance" {
			return wire.Fail("InvalidParameterValue", "`TagSpecification.ResourceType` must be instance, not `%s`.", wire.Printable(kind))
		}
		for _, t := range spec.Tags {
			s.Tags = append(s.Tags, world.Tag{Key: wire.Or(t.Key, ""), Value: wire.Or(t.Value, "")})
		}
	}
	return api.CheckLaunchTags(s.Tags)
}

func readMisc(now time.Time) func(*launchSpec, launch.Params) *wire.Error {
	return func(s *launchSpec, p launch.Params) *wire.Error {
		if len(p.DisasterRecoverGroupIDs) > 1 {
			return wire.Fail("InvalidParameterValue.LimitExceeded", "Only one `DisasterRecoverGroupIds` may be given.")
		}
		if failure := wire.PlacementSetID.Check(p.DisasterRecoverGroupIDs...); failure != nil {
			return failure
		}
		s.Instance.DisasterRecoverGroupID = strings.Join(p.DisasterRecoverGroupIDs, "") // at most one
		if s.Instance.CamRoleName = wire.Or(p.CamRoleName, ""); s.Instance.CamRoleName != "" {
			if failure := wire.RoleName.Check(s.Instance.CamRoleName); failure != nil {
				return failure
			}
		}
		s.Instance.Protected = wire.Or(p.DisableAPITermination, false)
		return readTimer(s, p.ActionTimer, now)
	}
}

// readTimer reads the timed termination, which must be five minutes ahead (cvm models.go,
// ActionTimer).
func readTimer(s *launchSpec, timer *launch.Timer, now time.Time) *wire.Error {
	if timer == nil {
		return nil
	}
	if wire.Or(timer.TimerAction, "") != "TerminateInstances" {
		return wire.Fail("InvalidParameterValue", "`ActionTimer.TimerAction` must be TerminateInstances.")
	}
	at, err := time.Parse(time.RFC3339, wire.Or(timer.ActionTime, ""))
	if err != nil {
		return wire.Fail("InvalidParameterValue.InvalidTimeFormat", "`ActionTimer.ActionTime` must look like 2018-05-29T11:26:40Z.")
	}
	if at.Before(now.Add(5 * time.Minute)) {
		return wire.Fail("InvalidParameterValue.Range", "`ActionTimer.ActionTime` must be at least five minutes ahead.")
	}
	s.Instance.TimerAt = at
	return nil
}
