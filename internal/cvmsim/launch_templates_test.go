package cvmsim_test

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

func TestLaunchTemplates(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := newAPI(t, sim)
	id := a.ok("cvm", "CreateLaunchTemplate", launch(object{"LaunchTemplateName": "gpu", "InstanceName": "v1"}))["LaunchTemplateId"].(string)
	if n := a.ok("cvm", "CreateLaunchTemplateVersion", object{
		"LaunchTemplateId": id, "Placement": object{"Zone": "ap-singapore-3"}, "ImageId": "img-a1b2c3d4", "InstanceName": "v2",
	})["LaunchTemplateVersionNumber"]; n != 2.0 {
		t.Errorf("the second version is %v", n)
	}
	run := func(link object, changes object) object {
		t.Helper()
		params := object{"LaunchTemplate": link}
		for k, v := range changes {
			params[k] = v
		}
		return a.describe(object{"InstanceIds": texts(a.ok("cvm", "RunInstances", params)["InstanceIdSet"])})[0]
	}
	v1, v2 := object{"LaunchTemplateId": id}, object{"LaunchTemplateId": id, "LaunchTemplateVersion": 2}
	if in := run(v1, nil); in["InstanceName"] != "v1" || in["InstanceType"] != "GN7.2XLARGE32" || len(in["Tags"].([]any)) != 1 {
		t.Errorf("by the default version: %v", in)
	}
	if in := run(v2, nil); in["InstanceName"] != "v2" || in["Placement"].(object)["Zone"] != "ap-singapore-3" || in["InstanceType"] != "GN7.2XLARGE32" {
		t.Errorf("by version 2, which takes the rest from version 1: %v", in)
	}
	if in := run(v2, object{"InstanceName": "mine"}); in["InstanceName"] != "mine" {
		t.Errorf("what the call says goes first: %v", in["InstanceName"])
	}
	a.ok("cvm", "ModifyLaunchTemplateDefaultVersion", object{"LaunchTemplateId": id, "DefaultVersion": 2})
	if in := run(v1, nil); in["InstanceName"] != "v2" {
		t.Errorf("by the new default: %v", in["InstanceName"])
	}
	listed := a.ok("cvm", "DescribeLaunchTemplateVersions", object{"LaunchTemplateId": id})["LaunchTemplateVersionSet"].([]any)
	if len(listed) != 2 || listed[1].(object)["IsDefaultVersion"] != true || listed[1].(object)["LaunchTemplateVersionData"].(object)["InstanceName"] != "v2" {
		t.Errorf("versions: %v", listed)
	}
	a.refused("InvalidParameterValue.LaunchTemplateDefaultVersion", "cvm", "DeleteLaunchTemplateVersions", object{"LaunchTemplateId": id, "LaunchTemplateVersions": []int{2}})
	a.ok("cvm", "DeleteLaunchTemplateVersions", object{"LaunchTemplateId": id, "LaunchTemplateVersions": []int{1}})
	a.refused("InvalidParameterValue.LaunchTemplateIdVerNotExisted", "cvm", "RunInstances", object{"LaunchTemplate": object{"LaunchTemplateId": id, "LaunchTemplateVersion": 1}})
	if n := a.ok("cvm", "DescribeLaunchTemplates", filterBy("LaunchTemplateName", "gpu"))["TotalCount"]; n != 1.0 {
		t.Errorf("%v templates", n)
	}
	a.ok("cvm", "DeleteLaunchTemplate", object{"LaunchTemplateId": id})
	a.refused("InvalidParameterValue.LaunchTemplateIdNotExisted", "cvm", "RunInstances", object{"LaunchTemplate": v1})
}

func TestLaunchTemplateRefusals(t *testing.T) {
	t.Parallel()
	a := newAPI(t, cvmsimtest.Start(t))
	create := func(changes object) object {
		params := launch(changes)
		if _, named := changes["LaunchTemplateName"]; !named {
			params["LaunchTemplateName"] = "gpu"
		}
		return params
	}
	a.refused("MissingParameter", "cvm", "CreateLaunchTemplate", create(object{"LaunchTemplateName": nil}))
	a.refused("InvalidParameter.PasswordNotSupported", "cvm", "CreateLaunchTemplate", create(object{"LoginSettings": object{"Password": "Abcdefg1"}}))
	a.refused("InvalidImageId.Malformed", "cvm", "CreateLaunchTemplate", create(object{"ImageId": "x"}))
	a.refused("UnknownParameter", "cvm", "CreateLaunchTemplate", create(object{"LaunchTemplate": object{}}))
	a.refused("InvalidParameterValue.LaunchTemplateIdMalformed", "cvm", "DeleteLaunchTemplate", object{"LaunchTemplateId": "x"})
	id := a.ok("cvm", "CreateLaunchTemplate", create(nil))["LaunchTemplateId"]
	for range 29 {
		a.ok("cvm", "CreateLaunchTemplateVersion", object{"LaunchTemplateId": id})
	}
	a.refused("LimitExceeded.LaunchTemplateVersionQuota", "cvm", "CreateLaunchTemplateVersion", object{"LaunchTemplateId": id})
	a.refused("InvalidParameterValue.LaunchTemplateIdVerSetAlready", "cvm", "ModifyLaunchTemplateDefaultVersion", object{"LaunchTemplateId": id, "DefaultVersion": 1})
}
