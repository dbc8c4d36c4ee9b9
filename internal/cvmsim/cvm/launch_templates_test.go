package cvm_test

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

func TestPrepaidLaunch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep := func(dir string) *cvmsimtest.Sim {
		return cvmsimtest.Start(t, cvmsimtest.Frozen, func(o *cvmsim.Options) { o.StateDir = dir })
	}
	sim := keep(dir)
	a := cvmsimtest.NewClient(t, sim)
	prepaid := func(count int, renew string) object {
		return cvmsimtest.Launch(object{"InstanceChargeType": "PREPAID", "InstanceCount": count, "InstanceChargePrepaid": object{"Period": 12, "RenewFlag": renew}})
	}
	a.Refused("InvalidParameterValue", "cvm", "RunInstances", prepaid(1, "PERHAPS"))
	a.OK("cvm", "RunInstances", prepaid(1, "NOTIFY_AND_AUTO_RENEW"))
	number := int64(500)
	if err := sim.Server.SetStock(cvmsim.StockRequest{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", ChargeType: "PREPAID", Stock: &number}); err != nil {
		t.Fatal(err)
	}
	a.Refused("LimitExceeded.PrepayQuota", "cvm", "RunInstances", prepaid(100, "NOTIFY_AND_MANUAL_RENEW"))
	expires := sim.Server.Now().UTC().AddDate(1, 0, 0).Format("2006-01-02T15:04:05Z")
	for when, a := range map[string]*cvmsimtest.Client{"now": a, "after a restart": cvmsimtest.NewClient(t, keep(cvmsimtest.CopyOf(t, dir)))} {
		if in := a.Describe(nil)[0]; in["ExpiredTime"] != expires || in["RenewFlag"] != "NOTIFY_AND_AUTO_RENEW" {
			t.Errorf("%s: expires %v (want %s), %v", when, in["ExpiredTime"], expires, in["RenewFlag"])
		}
	}
}

func TestLaunchTemplates(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	id := a.OK("cvm", "CreateLaunchTemplate", cvmsimtest.Launch(object{"LaunchTemplateName": "gpu", "InstanceName": "v1"}))["LaunchTemplateId"].(string)
	if n := a.OK("cvm", "CreateLaunchTemplateVersion", object{
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
		return a.Describe(object{"InstanceIds": cvmsimtest.Texts(a.OK("cvm", "RunInstances", params)["InstanceIdSet"])})[0]
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
	a.OK("cvm", "ModifyLaunchTemplateDefaultVersion", object{"LaunchTemplateId": id, "DefaultVersion": 2})
	if in := run(v1, nil); in["InstanceName"] != "v2" {
		t.Errorf("by the new default: %v", in["InstanceName"])
	}
	listed := a.OK("cvm", "DescribeLaunchTemplateVersions", object{"LaunchTemplateId": id})["LaunchTemplateVersionSet"].([]any)
	if len(listed) != 2 || listed[1].(object)["IsDefaultVersion"] != true || listed[1].(object)["LaunchTemplateVersionData"].(object)["InstanceName"] != "v2" {
		t.Errorf("versions: %v", listed)
	}
	a.Refused("InvalidParameterValue.LaunchTemplateDefaultVersion", "cvm", "DeleteLaunchTemplateVersions", object{"LaunchTemplateId": id, "LaunchTemplateVersions": []int{2}})
	a.OK("cvm", "DeleteLaunchTemplateVersions", object{"LaunchTemplateId": id, "LaunchTemplateVersions": []int{1}})
	a.Refused("InvalidParameterValue.LaunchTemplateIdVerNotExisted", "cvm", "RunInstances", object{"LaunchTemplate": object{"LaunchTemplateId": id, "LaunchTemplateVersion": 1}})
	if n := a.OK("cvm", "DescribeLaunchTemplates", cvmsimtest.FilterBy("LaunchTemplateName", "gpu"))["TotalCount"]; n != 1.0 {
		t.Errorf("%v templates", n)
	}
	a.OK("cvm", "DeleteLaunchTemplate", object{"LaunchTemplateId": id})
	a.Refused("InvalidParameterValue.LaunchTemplateIdNotExisted", "cvm", "RunInstances", object{"LaunchTemplate": v1})
}

func TestLaunchTemplateRefusals(t *testing.T) {
	t.Parallel()
	a := cvmsimtest.NewClient(t, cvmsimtest.Start(t))
	create := func(changes object) object {
		params := cvmsimtest.Launch(changes)
		if _, named := changes["LaunchTemplateName"]; !named {
			params["LaunchTemplateName"] = "gpu"
		}
		return params
	}
	a.Refused("MissingParameter", "cvm", "CreateLaunchTemplate", create(object{"LaunchTemplateName": nil}))
	a.Refused("InvalidParameter.PasswordNotSupported", "cvm", "CreateLaunchTemplate", create(object{"LoginSettings": object{"Password": "Abcdefg1"}}))
	a.Refused("InvalidImageId.Malformed", "cvm", "CreateLaunchTemplate", create(object{"ImageId": "x"}))
	a.Refused("UnknownParameter", "cvm", "CreateLaunchTemplate", create(object{"LaunchTemplate": object{}}))
	a.Refused("InvalidParameterValue.LaunchTemplateIdMalformed", "cvm", "DeleteLaunchTemplate", object{"LaunchTemplateId": "x"})
	id := a.OK("cvm", "CreateLaunchTemplate", create(nil))["LaunchTemplateId"]
	for range 29 {
		a.OK("cvm", "CreateLaunchTemplateVersion", object{"LaunchTemplateId": id})
	}
	a.Refused("LimitExceeded.LaunchTemplateVersionQuota", "cvm", "CreateLaunchTemplateVersion", object{"LaunchTemplateId": id})
	a.Refused("InvalidParameterValue.LaunchTemplateIdVerSetAlready", "cvm", "ModifyLaunchTemplateDefaultVersion", object{"LaunchTemplateId": id, "DefaultVersion": 1})
}
