package cvmsim

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of tags (API document 651/13354).
const (
	maxTags        = 50
	maxTagKey      = 127
	maxTagValue    = 255
	tagPunctuation = " +-=._:/@()[],;><"
)

// checkLaunchTags applies the tag rules with the codes that CVM uses for them.
func checkLaunchTags(tags []Tag) *apiError {
	seen := map[string]bool{}
	for _, t := range tags {
		switch {
		case reservedTagKey(t.Key):
			return fail("FailedOperation.TagKeyReserved", "The tag key `%s` is reserved.", printable(t.Key))
		case !legalTagText(t.Key, maxTagKey):
			return fail("FailedOperation.IllegalTagKey", "The tag key `%s` is illegal.", printable(t.Key))
		case !legalTagText(t.Value, maxTagValue):
			return fail("FailedOperation.IllegalTagValue", "The value of the tag `%s` is illegal.", printable(t.Key))
		case seen[t.Key]:
			return fail("InvalidParameterValue.DuplicateTags", "The tag key `%s` is given twice.", printable(t.Key))
		}
		seen[t.Key] = true
	}
	if len(tags) > maxTags {
		return fail("InvalidParameterValue.TagQuotaLimitExceeded", "A resource can have at most %d tags.", maxTags)
	}
	return nil
}

func reservedTagKey(key string) bool {
	for _, prefix := range []string{"qcs:", "project", "项目"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// legalTagText reports whether text is 1 to limit characters of those that
// tags may have, without a space at either end.
func legalTagText(text string, limit int) bool {
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
