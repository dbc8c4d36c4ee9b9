package cvmsimtest

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
)

// Launch returns a well-formed RunInstances for a spot GN7 in Singapore zone 2, with changes.
func Launch(changes Object) Object {
	params := Object{
		"InstanceChargeType": "SPOTPAID",
		"Placement":          Object{"Zone": "ap-singapore-2"},
		"InstanceType":       "GN7.2XLARGE32",
		"ImageId":            "img-a1b2c3d4",
		"LoginSettings":      Object{"KeyIds": []string{"skey-a1b2c3d4"}},
		"TagSpecification":   TagSpec("gpupool/pool", "train"),
	}
	for name, value := range changes {
		if value == nil {
			delete(params, name)
			continue
		}
		params[name] = value
	}
	return params
}

// TagSpec returns the tags of instances, from keys and values in turn.
func TagSpec(pairs ...string) []Object {
	tags := []Object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		tags = append(tags, Object{"Key": pairs[i], "Value": pairs[i+1]})
	}
	return []Object{{"ResourceType": "instance", "Tags": tags}}
}

// FilterBy returns a request with filters, from names and values in turn.
func FilterBy(pairs ...string) Object {
	filters := []Object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		filters = append(filters, Object{"Name": pairs[i], "Values": []string{pairs[i+1]}})
	}
	return Object{"Filters": filters}
}

// RoleArn names a role of the demo account.
const RoleArn = "qcs::cam::uin/" + cvmsim.DemoAccountID + ":roleName/gpu-node"

// Resource returns the name of an instance in Singapore in the tag API.
func Resource(id string) string { return "qcs::cvm:ap-singapore:uin/:instance/" + id }

// ServiceTags returns tags in the form of the tag API, from keys and values in turn.
func ServiceTags(pairs ...string) []Object {
	tags := []Object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		tags = append(tags, Object{"TagKey": pairs[i], "TagValue": pairs[i+1]})
	}
	return tags
}
