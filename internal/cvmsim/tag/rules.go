package tag

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// Limits of the tag API (tag models.go: N from 0 to 9).
const (
	maxTaggedResources = 10
	maxTagsPerCall     = 10
)

type serviceTag struct {
	TagKey   *string `json:"TagKey,omitempty"`
	TagValue *string `json:"TagValue,omitempty"`
	Category *string `json:"Category,omitempty"`
}

func readServiceTags(name string, params []serviceTag) ([]world.Tag, *wire.Error) {
	keys := make([]string, len(params))
	tags := make([]world.Tag, len(params))
	for i, t := range params {
		tags[i] = world.Tag{Key: wire.Or(t.TagKey, ""), Value: wire.Or(t.TagValue, "")}
		keys[i] = tags[i].Key
	}
	if failure := checkTagKeys(name, keys); failure != nil {
		return nil, failure
	}
	for _, t := range tags {
		switch {
		case t.Value == "":
			return nil, wire.Fail("InvalidParameterValue.TagValueEmpty", "The value of the tag `%s` is empty.", wire.Printable(t.Key))
		case len([]rune(t.Value)) > api.MaxTagValue:
			return nil, wire.Fail("InvalidParameterValue.TagValueLengthExceeded", "The value of the tag `%s` is longer than %d characters.",
				wire.Printable(t.Key), api.MaxTagValue)
		case !api.LegalTagText(t.Value, api.MaxTagValue):
			return nil, wire.Fail("InvalidParameterValue.TagValueCharacterIllegal", "The value of the tag `%s` has an illegal character.",
				wire.Printable(t.Key))
		}
	}
	return tags, nil
}

func checkTagKeys(name string, keys []string) *wire.Error {
	if len(keys) == 0 {
		return wire.Missing(name)
	}
	if len(keys) > maxTagsPerCall {
		return wire.Fail("LimitExceeded.TagNumPerRequest", "There may be at most %d tags, not %d.", maxTagsPerCall, len(keys))
	}
	for i, key := range keys {
		switch {
		case key == "":
			return wire.Fail("InvalidParameterValue.TagKeyEmpty", "A tag key is empty.")
		case api.ReservedTagKey(key):
			return wire.Fail("InvalidParameter.ReservedTagKey", "The tag key `%s` is reserved.", wire.Printable(key))
		case len([]rune(key)) > api.MaxTagKey:
			return wire.Fail("InvalidParameterValue.TagKeyLengthExceeded", "A tag key is longer than %d characters.", api.MaxTagKey)
		case !api.LegalTagText(key, api.MaxTagKey):
			return wire.Fail("InvalidParameterValue.TagKeyCharacterIllegal", "The tag key `%s` has an illegal character.", wire.Printable(key))
		case slices.Contains(keys[:i], key):
			return wire.Fail("InvalidParameterValue.TagKeyDuplicate", "The tag key `%s` is given twice.", wire.Printable(key))
		}
	}
	return nil
}
