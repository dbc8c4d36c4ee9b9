package api

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// Limits of tags (API document 651/13354).
const (
	MaxTags        = 50
	MaxTagKey      = 127
	MaxTagValue    = 255
	tagPunctuation = " +-=._:/@()[],;><"
)

// CheckLaunchTags applies the tag rules with CVM's error codes.
func CheckLaunchTags(tags []world.Tag) *wire.Error {
	seen := map[string]bool{}
	for _, t := range tags {
		switch {
		case ReservedTagKey(t.Key):
			return wire.Fail("FailedOperation.TagKeyReserved", "The tag key `%s` is reserved.", wire.Printable(t.Key))
		case !LegalTagText(t.Key, MaxTagKey):
			return wire.Fail("FailedOperation.IllegalTagKey", "The tag key `%s` is illegal.", wire.Printable(t.Key))
		case !LegalTagText(t.Value, MaxTagValue):
			return wire.Fail("FailedOperation.IllegalTagValue", "The value of the tag `%s` is illegal.", wire.Printable(t.Key))
		case seen[t.Key]:
			return wire.Fail("InvalidParameterValue.DuplicateTags", "The tag key `%s` is given twice.", wire.Printable(t.Key))
		}
		seen[t.Key] = true
	}
	if len(tags) > MaxTags {
		return wire.Fail("InvalidParameterValue.TagQuotaLimitExceeded", "A resource can have at most %d tags.", MaxTags)
	}
	return nil
}

// ReservedTagKey reports whether Tencent Cloud reserves a key.
func ReservedTagKey(key string) bool {
	for _, prefix := range []string{"qcs:", "project", "项目"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// LegalTagText reports whether text has 1 to limit characters that tags may have, without a space
// at either end.
func LegalTagText(text string, limit int) bool {
	if n := utf8.RuneCountInString(text); n < 1 || n > limit || !utf8.ValidString(text) {
		return false
	}
	if strings.TrimSpace(text) != text {
		return false
	}
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r) && !strings.ContainsRune(tagPunctuation, r) {
			return false
		}
	}
	return true
}

// CheckTagValues rejects tags that exceed the allowed values of a key. The tag API documents
// LimitExceeded.TagValue for it, with a limit of 1,000 (tag errors.go; client.go of AddResourceTag,
// ModifyResourceTags, TagResources and others). RunInstances documents only
// InvalidParameterValue.TagQuotaLimitExceeded, which does not name its quota. It is assumed, and
// documented nowhere, that RunInstances returns the tag API's code, and that a value counts as long
// as the account exists.
func CheckTagValues(w *world.World, tags []world.Tag) *wire.Error {
	limit := w.Settings.TagValuesPerKey
	if limit == 0 {
		return nil
	}
	for _, t := range tags { // each key is unique
		if n := w.Tags.Values(t.Key); n >= limit && !w.Tags.Has(t) {
			return wire.Fail("LimitExceeded.TagValue", "The tag key `%s` has %d values, which is the limit.", wire.Printable(t.Key), n)
		}
	}
	return nil
}
