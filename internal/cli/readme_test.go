package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
)

var (
	figure   = regexp.MustCompile(`\d[\d,.]*\d%?|\d%?`)
	claim    = regexp.MustCompile(`(?m)^- \*\*.+$`)
	evidence = regexp.MustCompile(`\]\((docs/[a-z/-]+\.md)\)`)
)

// TestReadmeIsShort keeps README to what a visitor reads in a few minutes.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	readme := pages(t, "README.md")[0].text
	if n := len(strings.Fields(readme)); n > 700 {
		t.Errorf("README.md has %d words, more than 700: move some to a guide", n)
	}
	before, _, found := strings.Cut(readme, "make -C terraform-provider-gpupool install")
	if line := 1 + strings.Count(before, "\n"); !found || line > 40 {
		t.Errorf("README.md has the install command in line %d, after line 40", line)
	}
}

// TestReadmeFiguresAreMeasured finds each figure of README's claims in one of the pages
// that the claims link to.
func TestReadmeFiguresAreMeasured(t *testing.T) {
	t.Parallel()
	claims := strings.Join(claim.FindAllString(pages(t, "README.md")[0].text, -1), "\n")
	var measured strings.Builder
	for _, link := range evidence.FindAllStringSubmatch(claims, -1) {
		page, err := os.ReadFile(clitest.RepositoryFile(t, filepath.FromSlash(link[1])))
		if err != nil {
			t.Fatal(err)
		}
		measured.Write(page)
	}
	figures := figure.FindAllString(claims, -1)
	if len(figures) < 5 {
		t.Errorf("only %d figures were found in the claims of README.md", len(figures))
	}
	for _, f := range figures {
		if !regexp.MustCompile(`(?:^|[^\d,.])` + regexp.QuoteMeta(f) + `(?:$|[^\d])`).MatchString(measured.String()) {
			t.Errorf("README.md claims %s, which no page that it links to has", f)
		}
	}
}
