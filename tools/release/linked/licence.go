package linked

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// shipped are the licences under which a binary may be passed on, beside one of
// the MPL 2.0, with their texts and with word of where the source is: what a
// release does. One that asks for more is not among them.
var shipped = []string{
	"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "CC0-1.0", "ISC", "MIT", "MIT-0", "MPL-2.0", "Unlicense", "Zlib",
}

type kind int

const (
	other kind = iota
	licence
	notice // a notice, or a grant of patents: shipped, and no licence by itself
)

var (
	licenceName = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying)s?([._-].*)?$`)
	noticeName  = regexp.MustCompile(`(?i)^(notice|patents|copyright)s?([._-].*)?$`)
	code        = regexp.MustCompile(`(?i)\.(go|s|c|h|tmpl|sh|ya?ml|json)$`)
)

func kindOf(name string) kind {
	switch {
	case code.MatchString(name):
		return other
	case licenceName.MatchString(name):
		return licence
	case noticeName.MatchString(name):
		return notice
	}
	return other
}

// enough is how much of a file its known licences have to cover, in percent. The
// rest are names, years and titles.
const enough = 75

// Classify names the licences in a text, and fails where one of them may not be
// shipped, or where much of the text is none that is known.
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
			wrong = append(wrong, fmt.Errorf("%s may not be shipped: do without it, or add it to the list in tools/release/linked/licence.go where all it "+
				"asks for is done", id))
		}
	}
	if cover.Percent < enough {
		wrong = append(wrong, fmt.Errorf("no more than %.0f%% of it is a known licence (%s): read it", cover.Percent, strings.Join(ids, ", ")))
	}
	return ids, errors.Join(wrong...)
}
