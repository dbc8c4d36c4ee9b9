package cvmsim

import (
	"encoding/base64"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
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

// launchSpec is a launch request that has passed every check that needs no
// look at the market.
type launchSpec struct {
	sku       sku
	itype     *instanceType
	count     int64
	bid       money // 0 = the market price
	template  instance
	tags      []Tag
	addresses []string
	token     string
	months    int64
}

var (
	imageID         = regexp.MustCompile(`^img-[a-z0-9]{8}$`)
	keyID           = regexp.MustCompile(`^skey-[a-z0-9]{8}$`)
	vpcID           = regexp.MustCompile(`^(vpc-[a-z0-9]{8}|DEFAULT)$`)
	subnetID        = regexp.MustCompile(`^(subnet-[a-z0-9]{8}|DEFAULT)$`)
	securityGroupID = regexp.MustCompile(`^sg-[a-z0-9]{8}$`)
	instanceID      = regexp.MustCompile(`^ins-[a-z0-9]{8}$`)
	templateID      = regexp.MustCompile(`^lt-[a-z0-9]{8}$`)
	placementSetID  = regexp.MustCompile(`^ps-[a-z0-9]{8}$`)
	typeName        = regexp.MustCompile(`^[A-Za-z0-9]+\.[A-Z0-9]+$`)
	roleName        = regexp.MustCompile(`^[A-Za-z0-9+=,.@_-]{1,128}$`)
	hostLabel       = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$`)
	namePattern     = regexp.MustCompile(`\{R:(\d{1,9})\}`)
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
	s.token = or(p.ClientToken, "")
	if len(s.token) > maxClientToken {
		return fail("InvalidClientToken.TooLong", "`ClientToken` must have at most %d characters.", maxClientToken)
	}
	for _, r := range s.token {
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

func readNetwork(s *launchSpec, p launchParams) *apiError {
	if failure := readVPC(s, p.VirtualPrivateCloud); failure != nil {
		return failure
	}
	for _, id := range p.SecurityGroupIDs {
		if failure := checkID(securityGroupID, "InvalidSgId.Malformed", id); failure != nil {
			return failure
		}
	}
	s.template.SecurityGroupIDs = p.SecurityGroupIDs
	if net := p.InternetAccessible; net != nil {
		s.template.Bandwidth = or(net.InternetMaxBandwidthOut, 0)
		if s.template.Bandwidth < 0 || s.template.Bandwidth > 1000 {
			return fail("InvalidParameterValue.Range", "`InternetMaxBandwidthOut` must be from 0 to 1000.")
		}
		s.template.InternetChargeType = or(net.InternetChargeType, "")
		known := []string{"", "BANDWIDTH_PREPAID", "TRAFFIC_POSTPAID_BY_HOUR", "BANDWIDTH_POSTPAID_BY_HOUR", "BANDWIDTH_PACKAGE"}
		if !slices.Contains(known, s.template.InternetChargeType) {
			return fail("InvalidParameterValue", "`InternetChargeType` has no value `%s`.", printable(s.template.InternetChargeType))
		}
		if or(net.PublicIPAssigned, false) && s.template.Bandwidth == 0 {
			return fail("InvalidParameterCombination", "A public address needs `InternetMaxBandwidthOut` above 0.")
		}
		if s.template.Bandwidth > 0 && or(net.PublicIPAssigned, true) {
			s.template.PublicIP = "assigned at launch"
		}
	}
	return nil
}

func readVPC(s *launchSpec, vpc *vpcParams) *apiError {
	s.template.VPCID, s.template.SubnetID = "DEFAULT", "DEFAULT"
	if vpc == nil {
		return nil
	}
	s.template.VPCID, s.template.SubnetID = or(vpc.VpcID, ""), or(vpc.SubnetID, "")
	if s.template.VPCID == "" {
		return missing("VirtualPrivateCloud.VpcId")
	}
	if s.template.SubnetID == "" {
		return missing("VirtualPrivateCloud.SubnetId")
	}
	if failure := checkID(vpcID, "InvalidParameterValue.VpcIdMalformed", s.template.VPCID); failure != nil {
		return failure
	}
	if failure := checkID(subnetID, "InvalidParameterValue.SubnetIdMalformed", s.template.SubnetID); failure != nil {
		return failure
	}
	if s.addresses = vpc.PrivateIPAddresses; len(s.addresses) == 0 {
		return nil
	}
	if len(s.addresses) > maxFixedAddresses {
		return fail("InvalidParameterValue.Range", "`PrivateIpAddresses` must have at most %d addresses.", maxFixedAddresses)
	}
	if int64(len(s.addresses)) != s.count {
		return fail("InvalidParameterValue.AmountNotEqual", "`PrivateIpAddresses` must have as many addresses as `InstanceCount` says.")
	}
	for _, a := range s.addresses {
		if ip, err := netip.ParseAddr(a); err != nil || !ip.Is4() {
			return fail("InvalidParameterValue.IPAddressMalformed", "The address `%s` is malformed.", printable(a))
		}
	}
	return nil
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

func readLogin(s *launchSpec, p launchParams) *apiError {
	login := or(p.LoginSettings, loginParams{})
	keep := or(login.KeepImageLogin, "")
	switch strings.ToLower(keep) {
	case "", "false", "true":
		s.template.KeepImageLogin = strings.EqualFold(keep, "true")
	default:
		return fail("InvalidParameterValue", "`KeepImageLogin` must be true or false.")
	}
	ways := 0
	for _, given := range []bool{login.Password != nil, len(login.KeyIDs) > 0, s.template.KeepImageLogin} {
		if given {
			ways++
		}
	}
	if ways > 1 {
		return fail("InvalidParameterCombination", "`Password`, `KeyIds` and `KeepImageLogin` exclude each other.")
	}
	for _, id := range login.KeyIDs {
		if failure := checkID(keyID, "InvalidKeyPairId.Malformed", id); failure != nil {
			return failure
		}
	}
	s.template.KeyIDs = login.KeyIDs
	if login.Password != nil && !strongPassword(*login.Password) {
		return fail("InvalidPassword", "`Password` must have 8 to 30 characters of at least two classes.")
	}
	return nil
}

// strongPassword applies the rule for Linux instances. The password itself is
// not kept anywhere.
func strongPassword(password string) bool {
	if len(password) < 8 || len(password) > 30 {
		return false
	}
	classes := map[string]bool{}
	for _, r := range password {
		switch {
		case r >= 'a' && r <= 'z':
			classes["lower"] = true
		case r >= 'A' && r <= 'Z':
			classes["upper"] = true
		case r >= '0' && r <= '9':
			classes["digit"] = true
		case strings.ContainsRune("()`~!@#$%^&*-+=|{}[]:;',.?/", r):
			classes["special"] = true
		default:
			return false
		}
	}
	return len(classes) >= 2
}

func readUserData(s *launchSpec, p launchParams) *apiError {
	s.template.UserData = or(p.UserData, "")
	return checkUserData(s.template.UserData)
}

func checkUserData(encoded string) *apiError {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return fail("InvalidParameterValue.InvalidUserDataFormat", "`UserData` is not base64.")
	}
	if len(raw) > maxUserData {
		return fail("InvalidParameterValue.TooLarge", "`UserData` must have at most 16 KB.")
	}
	return nil
}

var diskTypes = []string{
	"LOCAL_BASIC", "LOCAL_SSD", "LOCAL_NVME", "LOCAL_PRO", "CLOUD_BASIC", "CLOUD_SSD",
	"CLOUD_PREMIUM", "CLOUD_BSSD", "CLOUD_HSSD", "CLOUD_TSSD",
}

func readDisks(s *launchSpec, p launchParams) *apiError {
	system := or(p.SystemDisk, systemDiskParams{})
	s.template.SystemDisk = disk{Type: or(system.DiskType, "CLOUD_PREMIUM"), Size: or(system.DiskSize, 50), DeleteWithInstance: true}
	if failure := checkDisk("SystemDisk", s.template.SystemDisk, 20, 2048); failure != nil {
		return failure
	}
	if len(p.DataDisks) > maxDataDisks {
		return fail("InvalidParameterValue.LimitExceeded", "`DataDisks` must have at most %d disks.", maxDataDisks)
	}
	for i, d := range p.DataDisks {
		name := "DataDisks." + strconv.Itoa(i)
		if d.DiskSize == nil {
			return missing(name + ".DiskSize")
		}
		data := disk{Type: or(d.DiskType, "CLOUD_PREMIUM"), Size: *d.DiskSize, DeleteWithInstance: or(d.DeleteWithInstance, true)}
		if failure := checkDisk(name, data, 10, 32000); failure != nil {
			return failure
		}
		s.template.DataDisks = append(s.template.DataDisks, data)
	}
	return nil
}

func checkDisk(name string, d disk, least, most int64) *apiError {
	if !slices.Contains(diskTypes, d.Type) {
		return fail("InvalidParameterValue", "`%s.DiskType` has no value `%s`.", name, printable(d.Type))
	}
	if d.Size < least || d.Size > most {
		return fail("InvalidParameterValue.Range", "`%s.DiskSize` must be from %d to %d GiB, not %d.", name, least, most, d.Size)
	}
	return nil
}

func readMarket(s *launchSpec, p launchParams) *apiError {
	s.sku.Charge = or(p.InstanceChargeType, chargeHourly)
	switch s.sku.Charge {
	case chargeHourly, chargeSpot:
	case chargePrepaid:
		if p.InstanceChargePrepaid == nil || p.InstanceChargePrepaid.Period == nil {
			return missing("InstanceChargePrepaid.Period")
		}
		s.months = *p.InstanceChargePrepaid.Period
		if s.months < 1 || s.months > 12 && !slices.Contains([]int64{24, 36, 48, 60}, s.months) {
			return fail("InvalidPeriod", "A period of %d months is not sold.", s.months)
		}
	default:
		return fail("InvalidParameterValue", "`InstanceChargeType` has no value `%s` here.", printable(s.sku.Charge))
	}
	return readBid(s, p.InstanceMarketOptions)
}

func readBid(s *launchSpec, market *marketParams) *apiError {
	if market == nil {
		return nil
	}
	if s.sku.Charge != chargeSpot {
		return fail("InvalidParameterCombination", "`InstanceMarketOptions` needs `InstanceChargeType` to be SPOTPAID.")
	}
	if kind := or(market.MarketType, "spot"); kind != "spot" {
		return fail("InvalidParameterValue", "`MarketType` has no value `%s`.", printable(kind))
	}
	spot := or(market.SpotOptions, spotParams{})
	if kind := or(spot.SpotInstanceType, "one-time"); kind != "one-time" {
		return fail("InvalidParameterValue", "`SpotInstanceType` has no value `%s`; there is only one-time.", printable(kind))
	}
	if spot.MaxPrice == nil {
		return nil
	}
	bid, err := parseMoney(*spot.MaxPrice)
	if err != nil || bid == 0 {
		return fail("InvalidParameterValue", "`MaxPrice` must be a decimal above 0, not `%s`.", printable(*spot.MaxPrice))
	}
	s.bid, s.template.MaxPrice = bid, *spot.MaxPrice
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
