package cvm

import (
	"net/netip"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/launch"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
)

func readNetwork(s *launchSpec, p launch.Params) *wire.Error {
	if failure := readVPC(s, p.VirtualPrivateCloud); failure != nil {
		return failure
	}
	if failure := api.SecurityGroupID.Check(p.SecurityGroupIDs...); failure != nil {
		return failure
	}
	s.Instance.SecurityGroupIDs = p.SecurityGroupIDs
	if net := p.InternetAccessible; net != nil {
		s.Instance.Bandwidth = wire.Or(net.InternetMaxBandwidthOut, 0)
		if s.Instance.Bandwidth < 0 || s.Instance.Bandwidth > 1000 {
			return wire.Fail("InvalidParameterValue.Range", "`InternetMaxBandwidthOut` must be from 0 to 1000.")
		}
		s.Instance.InternetChargeType = wire.Or(net.InternetChargeType, "")
		known := []string{"", "BANDWIDTH_PREPAID", "TRAFFIC_POSTPAID_BY_HOUR", "BANDWIDTH_POSTPAID_BY_HOUR", "BANDWIDTH_PACKAGE"}
		if !slices.Contains(known, s.Instance.InternetChargeType) {
			return wire.Fail("InvalidParameterValue", "`InternetChargeType` has no value `%s`.", wire.Printable(s.Instance.InternetChargeType))
		}
		if wire.Or(net.PublicIPAssigned, false) && s.Instance.Bandwidth == 0 {
			return wire.Fail("InvalidParameterCombination", "A public address needs `InternetMaxBandwidthOut` above 0.")
		}
		if s.Instance.Bandwidth > 0 && wire.Or(net.PublicIPAssigned, true) {
			s.Instance.PublicIP = "assigned at launch"
		}
	}
	return nil
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
	if failure := api.VpcID.Check(s.Instance.VPCID); failure != nil {
		return failure
	}
	if failure := api.SubnetID.Check(s.Instance.SubnetID); failure != nil {
		return failure
	}
	if s.Addresses = vpc.PrivateIPAddresses; len(s.Addresses) == 0 {
		return nil
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
