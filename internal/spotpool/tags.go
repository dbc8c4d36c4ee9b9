package spotpool

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// The tags of a pool's instances.
const (
	TagUID           = "gpupool/uid"
	TagPool          = "gpupool/pool"
	TagSequence      = "gpupool/seq"
	TagConfiguration = "gpupool/config"
	// TagProtected protects an instance from termination. Operators set it.
	TagProtected = "gpupool/protected"
)

// TagLag bounds how long the tags of a launch may stay incomplete. Tencent Cloud attaches
// tags after it creates instances (CVM, RunInstances, TagSpecification) and names no bound;
// this is far above what was observed.
const TagLag = 10 * time.Minute

// OwnTags returns the keys of the tags that a launch sets on its instances.
func OwnTags() []string { return []string{TagConfiguration, TagPool, TagSequence, TagUID} }

// Limits of tags (Tencent Cloud, 651/13354).
const (
	maxTags     = 50
	maxTagKey   = 127
	maxTagValue = 255
	tagSymbols  = "+-=._:/@()[],;><"
)

var reservedTagPrefixes = []string{"gpupool/", "qcs:", "project", "项目"}

func (v *validator) tags() {
	tags := v.d.Tags
	own := OwnTags()
	if most := maxTags - len(own); len(tags) > most {
		v.Add("tags", reason.TooManyTags(
			reason.Count(len(tags)), maxTags, reason.Count(len(own)), own, reason.Count(len(tags)-most),
		))
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		at := fmt.Sprintf("tags[%q]", key)
		v.tagText(at, "key", key, maxTagKey)
		v.tagText(at, "value", tags[key], maxTagValue)
		for _, prefix := range reservedTagPrefixes {
			if strings.HasPrefix(key, prefix) {
				v.Add(at, reason.TagReserved(reason.Quoted(key), reason.Quoted(prefix)))
			}
		}
	}
}

func (v *validator) tagText(attribute string, part reason.Word, text string, longest int) {
	switch length := utf8.RuneCountInString(text); {
	case length == 0:
		v.Add(attribute, reason.TagEmpty(part))
	case length > longest:
		v.Add(attribute, reason.TagTooLong(part, reason.Count(length), reason.Count(longest)))
	case strings.TrimSpace(text) != text:
		v.Add(attribute, reason.TagSpaces(part, reason.Quoted(text)))
	}
	odd := strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != ' ' && !strings.ContainsRune(tagSymbols, r)
	})
	if odd >= 0 {
		r, _ := utf8.DecodeRuneInString(text[odd:])
		v.Add(attribute, reason.TagCharacter(part, reason.Quoted(text), reason.Word(strconv.QuoteRune(r)), tagSymbols))
	}
}
