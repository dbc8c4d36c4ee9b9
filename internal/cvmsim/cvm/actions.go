// Package cvm implements the actions of the CVM API that gpupool and common calls of the official
// SDKs use: launches, listings, offers, quotas and images.
package cvm

import "github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"

// Actions returns the operations of CVM, with the rates of the API documents 213/568, 213/33237 and
// 213/33254. Undocumented rates are those of the most similar action.
func Actions() []*api.Action {
	return []*api.Action{
		api.Operation("cvm", "RunInstances", 10, runInstances),
		api.Operation("cvm", "DescribeInstances", 40, describeInstances),
		api.Operation("cvm", "DescribeInstancesStatus", 40, describeInstancesStatus),
		api.Operation("cvm", "TerminateInstances", 10, terminateInstances),
		api.Operation("cvm", "DescribeZoneInstanceConfigInfos", 40, describeZoneInstanceConfigInfos),
		api.Operation("cvm", "DescribeAccountQuota", 20, describeAccountQuota),
		api.Operation("cvm", "DescribeImages", 40, describeImages),
	}
}
