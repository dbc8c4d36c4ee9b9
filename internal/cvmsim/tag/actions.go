// Package tag implements the actions of the tag API.
package tag

import (
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// Actions returns the operations of the tag API. Undocumented rates are those of the most similar
// action.
func Actions() []*api.Action {
	return []*api.Action{
		api.Operation("tag", "TagResources", 20, tagResources),
		api.Operation("tag", "UnTagResources", 20, unTagResources),
		api.Operation("tag", "ModifyResourceTags", 20, modifyResourceTags),
		api.Operation("tag", "GetResources", 20, getResources),
	}
}

type tagResourcesRequest struct {
	ResourceList []string     `json:"ResourceList,omitempty"`
	Tags         []serviceTag `json:"Tags,omitempty"`
}

type unTagResourcesRequest struct {
	ResourceList []string `json:"ResourceList,omitempty"`
	TagKeys      []string `json:"TagKeys,omitempty"`
}

type failedResource struct {
	Resource string `json:"Resource"`
	Code     string `json:"Code"`
	Message  string `json:"Message"`
}

// tagResourcesResponse lists the resources that could not be tagged; the others were.
type tagResourcesResponse struct {
	FailedResources []failedResource `json:"FailedResources"`
}

func tagResources(w *world.World, c *api.Call, p *tagResourcesRequest) (*tagResourcesResponse, *wire.Error) {
	set, failure := readServiceTags("Tags", p.Tags)
	if failure != nil {
		return nil, failure
	}
	if failure := api.CheckTagValues(w, set); failure != nil {
		return nil, failure
	}
	return changeResources(w, c, p.ResourceList, set, nil)
}

func unTagResources(w *world.World, c *api.Call, p *unTagResourcesRequest) (*tagResourcesResponse, *wire.Error) {
	if failure := checkTagKeys("TagKeys", p.TagKeys); failure != nil {
		return nil, failure
	}
	return changeResources(w, c, p.ResourceList, nil, p.TagKeys)
}

func changeResources(w *world.World, c *api.Call, list []string, set []world.Tag, remove []string) (*tagResourcesResponse, *wire.Error) {
	if len(list) == 0 {
		return nil, wire.Missing("ResourceList")
	}
	if len(list) > maxTaggedResources {
		return nil, wire.Fail("LimitExceeded.ResourceNumPerRequest", "There may be at most %d resources, not %d.", maxTaggedResources, len(list))
	}
	answer := &tagResourcesResponse{FailedResources: []failedResource{}}
	for _, name := range list {
		failure := changeResource(w, c, name, set, remove)
		if failure != nil && failure.Code == "InvalidParameterValue.ResourceDescriptionError" {
			return nil, failure
		}
		if failure != nil {
			answer.FailedResources = append(answer.FailedResources, failedResource{name, failure.Code, failure.Message})
		}
	}
	return answer, nil
}

func changeResource(w *world.World, c *api.Call, name string, set []world.Tag, remove []string) *wire.Error {
	in, failure := resource(w, c, name)
	if failure != nil {
		return failure
	}
	tags := in.FinalTags()
	for _, key := range remove {
		tags = world.WithTag(tags, world.Tag{Key: key}, true)
	}
	for _, t := range set {
		tags = world.WithTag(tags, t, false)
	}
	if len(tags) > api.MaxTags {
		return wire.Fail("LimitExceeded.ResourceAttachedTags", "A resource can have at most %d tags.", api.MaxTags)
	}
	w.ChangeTags(in, c.Now, set, remove)
	c.TookEffect(in.ID)
	return nil
}

// resource finds the instance of a six-part name, qcs::cvm:<region>:uin/<uin>:instance/<id>; the
// uin may be empty.
func resource(w *world.World, c *api.Call, name string) (*world.Instance, *wire.Error) {
	bad := wire.Fail("InvalidParameterValue.ResourceDescriptionError", "The resource `%s` is not like qcs::cvm:ap-singapore:uin/:instance/ins-a1b2c3d4.",
		wire.Printable(name))
	parts := strings.Split(name, ":")
	if len(parts) != 6 || parts[0] != "qcs" || !strings.HasPrefix(parts[4], "uin/") {
		return nil, bad
	}
	if parts[2] != "cvm" {
		return nil, wire.Fail("InvalidParameter.UnsupportedService", "The service `%s` is not supported here.", wire.Printable(parts[2]))
	}
	if uin := strings.TrimPrefix(parts[4], "uin/"); uin != "" && uin != c.Account.ID {
		return nil, wire.Fail("FailedOperation.ResourceAppIdNotSame", "The resource belongs to another account.")
	}
	id, isInstance := strings.CutPrefix(parts[5], "instance/")
	if !isInstance || !wire.InstanceID.Fits(id) {
		return nil, bad
	}
	in := w.Instances.Visible(parts[3], id)
	if in == nil {
		return nil, wire.Fail("ResourceNotFound.RecordNotFound", "The resource `%s` does not exist.", wire.Printable(name))
	}
	return in, nil
}

type modifyResourceTagsRequest struct {
	Resource    *string      `json:"Resource,omitempty"`
	ReplaceTags []serviceTag `json:"ReplaceTags,omitempty"`
	DeleteTags  []serviceKey `json:"DeleteTags,omitempty"`
}

type serviceKey struct {
	TagKey *string `json:"TagKey,omitempty"`
}

// modifyResourceTags sets and deletes tags of one resource; a key may not be
// in both lists.
func modifyResourceTags(w *world.World, c *api.Call, p *modifyResourceTagsRequest) (*api.Empty, *wire.Error) {
	if wire.Or(p.Resource, "") == "" {
		return nil, wire.Missing("Resource")
	}
	if len(p.ReplaceTags)+len(p.DeleteTags) == 0 {
		return nil, wire.Missing("ReplaceTags")
	}
	var set []world.Tag
	var remove []string
	var failure *wire.Error
	if len(p.ReplaceTags) > 0 {
		if set, failure = readServiceTags("ReplaceTags", p.ReplaceTags); failure != nil {
			return nil, failure
		}
	}
	for _, k := range p.DeleteTags {
		remove = append(remove, wire.Or(k.TagKey, ""))
	}
	if len(remove) > 0 {
		if failure := checkTagKeys("DeleteTags", remove); failure != nil {
			return nil, failure
		}
	}
	for _, t := range set {
		if slices.Contains(remove, t.Key) {
			return nil, wire.Fail("InvalidParameterValue.DeleteTagsParamError", "The tag key `%s` is to be set and deleted.", wire.Printable(t.Key))
		}
	}
	if failure := api.CheckTagValues(w, set); failure != nil {
		return nil, failure
	}
	if failure := changeResource(w, c, *p.Resource, set, remove); failure != nil {
		return nil, failure
	}
	return &api.Empty{}, nil
}
