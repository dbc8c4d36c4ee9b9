package cvmsim

// serviceVersions are the services of the endpoint and their API versions.
var serviceVersions = map[string]string{"cvm": "2017-03-12", "tag": "2018-08-13", "sts": "2018-08-13"}

// action is one operation of the API. Names are unique over the services.
type action struct {
	name, service, version string
	rate                   float64 // calls a second
	regional               bool    // needs a region
	unsigned               bool    // may be called with Authorization: SKIP
	// prepare gives the parameters their types and returns what runs them.
	prepare func(params map[string]any) (prepared, *apiError)
}

// prepared is a call that is ready to run.
type prepared struct {
	params any
	run    func(w *world, c *call) (any, *apiError)
}

// operation makes an action of a function over typed parameters.
func operation[P, R any](service, name string, rate float64, run func(*world, *call, *P) (*R, *apiError)) *action {
	return &action{
		name: name, service: service, version: serviceVersions[service], rate: rate, regional: service == "cvm",
		prepare: func(tree map[string]any) (prepared, *apiError) {
			params := new(P)
			if err := bind(tree, params); err != nil {
				return prepared{}, parameterError(err)
			}
			return prepared{params: params, run: func(w *world, c *call) (any, *apiError) {
				answer, failure := run(w, c, params)
				if failure != nil {
					return nil, failure
				}
				return answer, nil
			}}, nil
		},
	}
}

// withoutSignature marks an action that may come unsigned.
func (a *action) withoutSignature() *action { a.unsigned = true; return a }

// withoutRegion marks an action of CVM that is about all regions.
func (a *action) withoutRegion() *action { a.regional = false; return a }

// cvmActions are the operations of CVM, with the rates of API document 213/568.
func cvmActions() []*action {
	return []*action{
		operation("cvm", "RunInstances", 10, runInstances),
		operation("cvm", "DescribeInstances", 40, describeInstances),
		operation("cvm", "DescribeInstancesStatus", 40, describeInstancesStatus),
		operation("cvm", "TerminateInstances", 10, terminateInstances),
		operation("cvm", "ModifyInstancesAttribute", 10, modifyInstancesAttribute),
		operation("cvm", "InquiryPriceRunInstances", 10, inquiryPriceRunInstances),
		operation("cvm", "DescribeZoneInstanceConfigInfos", 40, describeZoneInstanceConfigInfos),
		operation("cvm", "DescribeInstanceTypeConfigs", 40, describeInstanceTypeConfigs),
		operation("cvm", "DescribeAccountQuota", 20, describeAccountQuota),
		operation("cvm", "DescribeImages", 40, describeImages),
		operation("cvm", "DescribeZones", 20, describeZones),
		operation("cvm", "DescribeRegions", 20, describeRegions).withoutRegion(),
		operation("cvm", "CreateLaunchTemplate", 10, createLaunchTemplate),
		operation("cvm", "CreateLaunchTemplateVersion", 10, createLaunchTemplateVersion),
		operation("cvm", "DeleteLaunchTemplate", 10, deleteLaunchTemplate),
		operation("cvm", "DeleteLaunchTemplateVersions", 10, deleteLaunchTemplateVersions),
		operation("cvm", "DescribeLaunchTemplates", 10, describeLaunchTemplates),
		operation("cvm", "DescribeLaunchTemplateVersions", 10, describeLaunchTemplateVersions),
		operation("cvm", "ModifyLaunchTemplateDefaultVersion", 10, modifyLaunchTemplateDefaultVersion),
	}
}

// tagActions are the operations of the tag API; where its document has no
// rate, the rate of the nearest kin.
func tagActions() []*action {
	return []*action{
		operation("tag", "TagResources", 20, tagResources),
		operation("tag", "UnTagResources", 20, unTagResources),
		operation("tag", "ModifyResourceTags", 20, modifyResourceTags),
		operation("tag", "GetResources", 20, getResources),
		operation("tag", "DescribeResourcesByTags", 20, describeResourcesByTags),
		operation("tag", "DescribeResourceTagsByResourceIds", 20, describeResourceTagsByResourceIDs),
	}
}

// stsActions are the operations of STS.
func stsActions() []*action {
	return []*action{
		operation("sts", "GetCallerIdentity", 20, getCallerIdentity),
		operation("sts", "AssumeRole", 20, assumeRole),
		operation("sts", "AssumeRoleWithWebIdentity", 20, assumeRoleWithWebIdentity).withoutSignature(),
	}
}

func byName(all []*action) map[string]*action {
	table := make(map[string]*action, len(all))
	for _, a := range all {
		table[a.name] = a
	}
	return table
}
