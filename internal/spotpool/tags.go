package spotpool

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
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
		v.Add("tags", fmt.Sprintf("Omit %d.", len(tags)-most), "%d tags are too many: an instance has at most %d, and %d of them are the pool's own (%s)",
			len(tags), maxTags, len(own), strings.Join(own, ", "))
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		at := fmt.Sprintf("tags[%q]", key)
		v.tagText(at, "key", key, maxTagKey)
		v.tagText(at, "value", tags[key], maxTagValue)
		for _, prefix := range reservedTagPrefixes {
			if strings.HasPrefix(key, prefix) {
				v.Add(at, "Choose another key.", "the tag key %q begins with %q, which is reserved", key, prefix)
			}
		}
	}
}

func (v *validator) tagText(attribute, what, text string, longest int) {
	switch length := utf8.RuneCountInString(text); {
	case length == 0:
		v.Add(attribute, "Write at least one character, or omit the tag.", "the tag's %s is empty", what)
	case length > longest:
		v.Add(attribute, fmt.Sprintf("Shorten it to %d characters.", longest), "the tag's %s has %d characters, and may have %d", what, length, longest)
	case strings.TrimSpace(text) != text:
		v.Add(attribute, "Remove them.", "the tag's %s %q has spaces at its ends", what, text)
	}
	odd := strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != ' ' && !strings.ContainsRune(tagSymbols, r)
	})
	if odd >= 0 {
		r, _ := utf8.DecodeRuneInString(text[odd:])
		v.Add(attribute, "Use letters, digits, spaces and "+tagSymbols+".", "the tag's %s %q has the character %q, which is not allowed", what, text, r)
	}
}
