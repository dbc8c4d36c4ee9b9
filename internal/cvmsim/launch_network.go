package cvmsim

import (
	"net/netip"
	"slices"
)

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
