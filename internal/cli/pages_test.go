package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
)

// page is one that people read.
type page struct {
	name string // its path in the repository
	text string
}

// pages are those that match a pattern of paths in the repository, by name.
func pages(t *testing.T, patterns ...string) []page {
	t.Helper()
	var all []page
	for _, pattern := range patterns {
		found, err := filepath.Glob(clitest.RepositoryFile(t, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("there is no %s: %v", pattern, err)
		}
		for _, path := range found {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(clitest.RepositoryFile(t, "."), path)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, page{filepath.ToSlash(name), string(text)})
		}
	}
	return all
}

// shownPages are what a registry and a repository show.
func shownPages(t *testing.T) []page {
	t.Helper()
	return pages(t, "*.md", "docs/*.md", "docs/*/*.md", "examples/*/*.md")
}

var (
	pageTitle   = regexp.MustCompile(`(?m)^page_title: "([0-9])\.([0-9]) (.+)"$`)
	subcategory = regexp.MustCompile(`(?m)^subcategory: "(.*)"$`)
	firstTitle  = regexp.MustCompile(`(?m)^# (.+)$`)
	guideRow    = regexp.MustCompile(`(?m)^\| \[(.+?)\]\((?:docs/)?guides/([a-z-]+)\.md\) \|`)
	groupRow    = regexp.MustCompile(`(?m)^\| \*\*([0-9]\. .+)\*\* \| \|$`)
)

// TestGuidesAreInReadingOrder has the registry, which sorts subcategories and titles,
// show the guides in the order in which the first page lists them.
func TestGuidesAreInReadingOrder(t *testing.T) {
	t.Parallel()
	type guide struct{ group, number, title, name string }
	var guides []guide
	for _, p := range pages(t, "templates/guides/*.md*") {
		title, group := pageTitle.FindStringSubmatch(p.text), subcategory.FindStringSubmatch(p.text)
		if title == nil || group == nil || !strings.HasPrefix(group[1], title[1]+". ") {
			t.Errorf(
				`%s has no place among the guides: give it a subcategory such as "5. On call", and a page_title with its number, such as "5.3 …"; then list it in templates/index.md.tmpl`, p.name,
			)
			continue
		}
		if first := firstTitle.FindStringSubmatch(p.text); first == nil || first[1] != title[3] {
			t.Errorf("%s is called %s, and its heading is %q", p.name, title[3], first)
		}
		name, _, _ := strings.Cut(filepath.Base(p.name), ".")
		guides = append(guides, guide{group[1], title[1] + "." + title[2], title[3], name})
	}
	sorted := func(g guide) string { return g.group + "\n" + g.number + " " + g.title }
	slices.SortFunc(guides, func(a, b guide) int { return strings.Compare(sorted(a), sorted(b)) })
	var order, groups []string
	within := 0
	for _, g := range guides {
		order = append(order, g.title+" "+g.name)
		if !slices.Contains(groups, g.group) {
			groups, within = append(groups, g.group), 0
		}
		within++
		if want := fmt.Sprintf("%d.%d", len(groups), within); g.number != want {
			t.Errorf("%s is number %s, and should be %s", g.name, g.number, want)
		}
	}
	for _, p := range pages(t, "templates/index.md.tmpl") {
		var listed, under []string
		for _, row := range guideRow.FindAllStringSubmatch(p.text, -1) {
			listed = append(listed, row[1]+" "+row[2])
		}
		for _, row := range groupRow.FindAllStringSubmatch(p.text, -1) {
			under = append(under, row[1])
		}
		if diff := cmp.Diff(order, listed); diff != "" {
			t.Errorf("the guides in the registry's order (-) and in %s (+):\n%s", p.name, diff)
		}
		if diff := cmp.Diff(groups, under); diff != "" {
			t.Errorf("the subcategories (-) and the groups in %s (+):\n%s", p.name, diff)
		}
	}
}
