// Package cvm has the actions of the CVM API: launches, listings, prices and
// launch templates.
package cvm

import "github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"

// Actions are the operations of CVM, with the rates of the API documents
// 213/568, 213/33237 and 213/33254; where those have none, the rate of the
// nearest kin.
func Actions() []*api.Action {
	return []*api.Action{
		api.Operation("cvm", "RunInstances", 10, runInstances),
		api.Operation("cvm", "DescribeInstances", 40, describeInstances),
		api.Operation("cvm", "DescribeInstancesStatus", 40, describeInstancesStatus),
		api.Operation("cvm", "TerminateInstances", 10, terminateInstances),
		api.Operation("cvm", "ModifyInstancesAttribute", 10, modifyInstancesAttribute),
		api.Operation("cvm", "InquiryPriceRunInstances", 10, inquiryPriceRunInstances),
		api.Operation("cvm", "DescribeZoneInstanceConfigInfos", 40, describeZoneInstanceConfigInfos),
		api.Operation("cvm", "DescribeInstanceTypeConfigs", 40, describeInstanceTypeConfigs),
		api.Operation("cvm", "DescribeAccountQuota", 20, describeAccountQuota),
		api.Operation("cvm", "DescribeImages", 40, describeImages),
		api.Operation("cvm", "DescribeZones", 20, describeZones),
		api.Operation("cvm", "DescribeRegions", 20, describeRegions).WithoutRegion(),
		api.Operation("cvm", "CreateLaunchTemplate", 10, createLaunchTemplate),
		api.Operation("cvm", "CreateLaunchTemplateVersion", 10, createLaunchTemplateVersion),
		api.Operation("cvm", "DeleteLaunchTemplate", 10, deleteLaunchTemplate),
		api.Operation("cvm", "DeleteLaunchTemplateVersions", 10, deleteLaunchTemplateVersions),
		api.Operation("cvm", "DescribeLaunchTemplates", 10, describeLaunchTemplates),
		api.Operation("cvm", "DescribeLaunchTemplateVersions", 10, describeLaunchTemplateVersions),
		api.Operation("cvm", "ModifyLaunchTemplateDefaultVersion", 10, modifyLaunchTemplateDefaultVersion),
	}
}
