package node

import "strings"

// Cloud is the scheme of provider ids of Tencent Cloud
// (kubernetes/autoscaler, cloudprovider/tencentcloud).
const Cloud = "qcloud"

// ProviderID is a node's spec.providerID, taken apart. The zero value is that of a node
// which has none.
type ProviderID struct {
	Cloud      string // its scheme; "?" where it has none
	InstanceID string // empty where it names no instance of Tencent Cloud
}

// ParseProviderID takes a provider id apart. The zone in it is ignored: some write its
// number, others its name.
func ParseProviderID(text string) ProviderID {
	if text == "" {
		return ProviderID{}
	}
	cloud, rest, found := strings.Cut(text, "://")
	if !found || cloud == "" {
		return ProviderID{Cloud: "?"}
	}
	id := ProviderID{Cloud: cloud}
	name := rest[strings.LastIndexByte(rest, '/')+1:]
	if cloud == Cloud && strings.HasPrefix(rest, "/") && isInstanceID(name) {
		id.InstanceID = name
	}
	return id
}

// isInstanceID reports whether a text has the form of an instance's id, ins- and then
// lower-case letters and digits.
func isInstanceID(text string) bool {
	tail, found := strings.CutPrefix(text, "ins-")
	return found && tail != "" && strings.Trim(tail, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}
