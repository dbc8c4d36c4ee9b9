package linked

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// shipped are the licenses that a release complies with, in addition to the MPL 2.0: it has
// their texts and links to the sources. A license that requires more is not among them.
var shipped = []string{
	"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "CC0-1.0", "ISC", "MIT", "MIT-0", "MPL-2.0", "Unlicense", "Zlib",
}

type kind int

const (
	other kind = iota
	license
	notice // a notice or a grant of patents, which is shipped and not a license
)

var (
	licenseName = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying)s?([._-].*)?$`)
	noticeName  = regexp.MustCompile(`(?i)^(notice|patents|copyright)s?([._-].*)?$`)
	code        = regexp.MustCompile(`(?i)\.(go|s|c|h|tmpl|sh|ya?ml|json)$`)
)

func kindOf(name string) kind {
	switch {
	case code.MatchString(name):
		return other
	case licenseName.MatchString(name):
		return license
	case noticeName.MatchString(name):
		return notice
	}
	return other
}

// enough is how much of a file its known licenses must cover, in percent. The rest are names,
// years and titles.
const enough = 75

// Classify names the licenses in a text. It fails if one of them may not be shipped, or if much
// of the text is unknown.
func Classify(text []byte) ([]string, error) {
	cover := licensecheck.Scan(text)
	var ids []string
	for _, match := range cover.Match {
		if !match.IsURL && !slices.Contains(ids, match.ID) {
			ids = append(ids, match.ID)
		}
	}
	var wrong []error
	for _, id := range ids {
		if !slices.Contains(shipped, id) {
			wrong = append(wrong, fmt.Errorf("%s may not be shipped: remove the module, or comply with its license and list that here", id))
		}
	}
	if cover.Percent < enough {
		wrong = append(wrong, fmt.Errorf("no more than %.0f%% of it is a known license (%s): read it", cover.Percent, strings.Join(ids, ", ")))
	}
	return ids, errors.Join(wrong...)
}
