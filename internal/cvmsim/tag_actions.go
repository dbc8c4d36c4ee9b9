package cvmsim

import (
	"slices"
	"strings"
)

// The tags that gpupool writes. The local CVM reads them for its control
// surface alone.
const (
	poolTag   = "gpupool/pool"
	uidTag    = "gpupool/uid"
	seqTag    = "gpupool/seq"
	configTag = "gpupool/config"
)

// Limits of the tag API (tag models.go: N from 0 to 9).
const (
	maxTaggedResources = 10
	maxTagsPerCall     = 10
)

// serviceTag is a tag as the tag API writes it.
type serviceTag struct {
	TagKey   *string `json:"TagKey,omitempty"`
	TagValue *string `json:"TagValue,omitempty"`
	Category *string `json:"Category,omitempty"`
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

// tagResourcesResponse names the resources that could not be tagged; the
// others were.
type tagResourcesResponse struct {
	FailedResources []failedResource `json:"FailedResources"`
}

func tagResources(w *world, c *call, p *tagResourcesRequest) (*tagResourcesResponse, *apiError) {
	set, failure := readServiceTags("Tags", p.Tags)
	if failure != nil {
		return nil, failure
	}
	if failure := checkTagValues(w, set); failure != nil {
		return nil, failure
	}
	return changeResources(w, c, p.ResourceList, set, nil)
}

func unTagResources(w *world, c *call, p *unTagResourcesRequest) (*tagResourcesResponse, *apiError) {
	if failure := checkTagKeys("TagKeys", p.TagKeys); failure != nil {
		return nil, failure
	}
	return changeResources(w, c, p.ResourceList, nil, p.TagKeys)
}

func changeResources(w *world, c *call, list []string, set []Tag, remove []string) (*tagResourcesResponse, *apiError) {
	if len(list) == 0 {
		return nil, missing("ResourceList")
	}
	if len(list) > maxTaggedResources {
		return nil, fail("LimitExceeded.ResourceNumPerRequest", "There may be at most %d resources, not %d.", maxTaggedResources, len(list))
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

// changeResource sets or deletes the tags of one resource.
func changeResource(w *world, c *call, name string, set []Tag, remove []string) *apiError {
	in, failure := resource(w, c, name)
	if failure != nil {
		return failure
	}
	tags := in.finalTags()
	for _, key := range remove {
		tags = withTag(tags, Tag{Key: key}, true)
	}
	for _, t := range set {
		tags = withTag(tags, t, false)
	}
	if len(tags) > maxTags {
		return fail("LimitExceeded.ResourceAttachedTags", "A resource can have at most %d tags.", maxTags)
	}
	w.changeTags(in, c.now, set, remove)
	c.record.InstanceIDs, c.record.TookEffect = append(c.record.InstanceIDs, in.ID), true
	return nil
}

// resource finds the instance of a six-part name,
// qcs::cvm:<region>:uin/<uin>:instance/<id>; the uin may be empty.
func resource(w *world, c *call, name string) (*instance, *apiError) {
	bad := fail("InvalidParameterValue.ResourceDescriptionError", "The resource `%s` is not like qcs::cvm:ap-singapore:uin/:instance/ins-a1b2c3d4.", printable(name))
	parts := strings.Split(name, ":")
	if len(parts) != 6 || parts[0] != "qcs" || !strings.HasPrefix(parts[4], "uin/") {
		return nil, bad
	}
	if parts[2] != "cvm" {
		return nil, fail("InvalidParameter.UnsupportedService", "The service `%s` is not supported here.", printable(parts[2]))
	}
	if uin := strings.TrimPrefix(parts[4], "uin/"); uin != "" && uin != c.account.ID {
		return nil, fail("FailedOperation.ResourceAppIdNotSame", "The resource belongs to another account.")
	}
	id, isInstance := strings.CutPrefix(parts[5], "instance/")
	if !isInstance || !instanceID.MatchString(id) {
		return nil, bad
	}
	in := w.visible(id)
	if in == nil || in.Region != parts[3] {
		return nil, fail("ResourceNotFound.RecordNotFound", "The resource `%s` does not exist.", printable(name))
	}
	return in, nil
}

// readServiceTags applies the tag rules with the codes of the tag API.
func readServiceTags(name string, params []serviceTag) ([]Tag, *apiError) {
	keys := make([]string, len(params))
	tags := make([]Tag, len(params))
	for i, t := range params {
		tags[i] = Tag{Key: or(t.TagKey, ""), Value: or(t.TagValue, "")}
		keys[i] = tags[i].Key
	}
	if failure := checkTagKeys(name, keys); failure != nil {
		return nil, failure
	}
	for _, t := range tags {
		switch {
		case t.Value == "":
			return nil, fail("InvalidParameterValue.TagValueEmpty", "The value of the tag `%s` is empty.", printable(t.Key))
		case len([]rune(t.Value)) > maxTagValue:
			return nil, fail("InvalidParameterValue.TagValueLengthExceeded", "The value of the tag `%s` is longer than %d characters.", printable(t.Key), maxTagValue)
		case !legalTagText(t.Value, maxTagValue):
			return nil, fail("InvalidParameterValue.TagValueCharacterIllegal", "The value of the tag `%s` has an illegal character.", printable(t.Key))
		}
	}
	return tags, nil
}

func checkTagKeys(name string, keys []string) *apiError {
	if len(keys) == 0 {
		return missing(name)
	}
	if len(keys) > maxTagsPerCall {
		return fail("LimitExceeded.TagNumPerRequest", "There may be at most %d tags, not %d.", maxTagsPerCall, len(keys))
	}
	for i, key := range keys {
		switch {
		case key == "":
			return fail("InvalidParameterValue.TagKeyEmpty", "A tag key is empty.")
		case reservedTagKey(key):
			return fail("InvalidParameter.ReservedTagKey", "The tag key `%s` is reserved.", printable(key))
		case len([]rune(key)) > maxTagKey:
			return fail("InvalidParameterValue.TagKeyLengthExceeded", "A tag key is longer than %d characters.", maxTagKey)
		case !legalTagText(key, maxTagKey):
			return fail("InvalidParameterValue.TagKeyCharacterIllegal", "The tag key `%s` has an illegal character.", printable(key))
		case slices.Contains(keys[:i], key):
			return fail("InvalidParameterValue.TagKeyDuplicate", "The tag key `%s` is given twice.", printable(key))
		}
	}
	return nil
}
