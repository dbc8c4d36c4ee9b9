package cvm

import (
	"cmp"
	"net/netip"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/launch"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
)

func readNetwork(s *launchSpec, p launch.Params) *wire.Error {
	s.Instance.SecurityGroupIDs = p.SecurityGroupIDs
	return cmp.Or(readVPC(s, p.VirtualPrivateCloud), wire.SecurityGroupID.Check(p.SecurityGroupIDs...), readInternet(s, p.InternetAccessible))
}

func readInternet(s *launchSpec, net *launch.Internet) *wire.Error {
	if net == nil {
		return nil
	}
	s.Instance.Bandwidth, s.Instance.InternetChargeType = wire.Or(net.InternetMaxBandwidthOut, 0), wire.Or(net.InternetChargeType, "")
	if s.Instance.Bandwidth < 0 || s.Instance.Bandwidth > 1000 {
		return wire.Fail("InvalidParameterValue.Range", "`InternetMaxBandwidthOut` must be from 0 to 1000.")
	}
	failure := checkValue("InternetChargeType", s.Instance.InternetChargeType,
		"", "BANDWIDTH_PREPAID", "TRAFFIC_POSTPAID_BY_HOUR", "BANDWIDTH_POSTPAID_BY_HOUR", "BANDWIDTH_PACKAGE")
	if failure == nil && wire.Or(net.PublicIPAssigned, false) && s.Instance.Bandwidth == 0 {
		failure = wire.Fail("InvalidParameterCombination", "A public address needs `InternetMaxBandwidthOut` above 0.")
	}
	if s.Instance.Bandwidth > 0 && wire.Or(net.PublicIPAssigned, true) {
		s.Instance.PublicIP = "assigned at launch"
	}
	return failure
}

func readVPC(s *launchSpec, vpc *launch.VPC) *wire.Error {
	s.Instance.VPCID, s.Instance.SubnetID = "DEFAULT", "DEFAULT"
	if vpc == nil {
		return nil
	}
	s.Instance.VPCID, s.Instance.SubnetID = wire.Or(vpc.VpcID, ""), wire.Or(vpc.SubnetID, "")
	if s.Instance.VPCID == "" {
		return wire.Missing("VirtualPrivateCloud.VpcId")
	}
	if s.Instance.SubnetID == "" {
		return wire.Missing("VirtualPrivateCloud.SubnetId")
	}
	s.Addresses = vpc.PrivateIPAddresses
	failure := cmp.Or(wire.VpcID.Check(s.Instance.VPCID), wire.SubnetID.Check(s.Instance.SubnetID))
	if failure != nil || len(s.Addresses) == 0 {
		return failure
	}
	if len(s.Addresses) > maxFixedAddresses {
		return wire.Fail("InvalidParameterValue.Range", "`PrivateIpAddresses` must have at most %d addresses.", maxFixedAddresses)
	}
	if int64(len(s.Addresses)) != s.Count {
		return wire.Fail("InvalidParameterValue.AmountNotEqual", "`PrivateIpAddresses` must have as many addresses as `InstanceCount` says.")
	}
	for _, a := range s.Addresses {
		if ip, err := netip.ParseAddr(a); err != nil || !ip.Is4() {
			return wire.Fail("InvalidParameterValue.IPAddressMalformed", "The address `%s` is malformed.", wire.Printable(a))
		}
	}
	return nil
}
