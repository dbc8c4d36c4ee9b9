// Shape prints figures of the code's structure: lines, large packages, and wide types and
// interfaces. An interface's embedded ones count as one method each.
package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// The limits of sizes.
const (
	largePackage  = 2500 // code lines
	manyExported  = 40   // names of a package
	longLine      = 160  // columns
	listedAtMost  = 5    // types and interfaces that are named
	otherSuffixes = ".yaml .yml .tf .tmpl .txtar .sh .json"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if err := run(root); err != nil {
		fmt.Fprintln(os.Stderr, "shape:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	h, err := survey(root)
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	row := func(name string, value any) { fmt.Fprintf(out, "%s\t%v\n", name, value) }
	row("code lines, without comments and tests", h.code)
	row("non-blank lines, without tests", h.nonBlank)
	row("test lines, non-blank", h.tests)
	for _, suffix := range strings.Fields(otherSuffixes) {
		row("lines of *"+suffix, h.others[suffix])
	}
	row(fmt.Sprintf("lines over %d columns", longLine), h.long)
	fmt.Fprintln(out, "\nlarge package\tcode lines\texported names")
	for _, p := range h.sorted() {
		if p.code > largePackage || p.exported > manyExported {
			fmt.Fprintf(out, "%s\t%d\t%d\n", p.path, p.code, p.exported)
		}
	}
	for _, list := range []struct {
		title string
		of    func(*room) map[string]int
	}{
		{"type", func(r *room) map[string]int { return r.methods }},
		{"interface", func(r *room) map[string]int { return r.interfaces }},
	} {
		fmt.Fprintf(out, "\nlargest %ss\tmethods\n", list.title)
		for _, w := range h.widest(list.of) {
			fmt.Fprintf(out, "%s\t%d\n", w.name, w.methods)
		}
	}
	return out.Flush()
}

type house struct {
	rooms                       map[string]*room
	code, nonBlank, tests, long int
	others                      map[string]int // lines, by suffix
}

type room struct {
	path                string
	code, exported      int
	methods, interfaces map[string]int // by the type's name
}

type wide struct {
	name    string
	methods int
}

// survey reads internal, tools and main.go, and counts other text everywhere.
func survey(root string) (*house, error) {
	h := &house{rooms: map[string]*room{}, others: map[string]int{}}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == ".git" || name == "bin" || name == "node_modules"):
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		}
		suffix := filepath.Ext(name)
		isOther := slices.Contains(strings.Fields(otherSuffixes), suffix)
		if suffix != ".go" && !isOther {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if isOther {
			h.others[suffix] += nonBlank(text)
			return nil
		}
		return h.read(filepath.ToSlash(path), text)
	})
	return h, err
}

func (h *house) read(path string, text []byte) error {
	if strings.HasSuffix(path, "_test.go") {
		h.tests += nonBlank(text)
		return nil
	}
	h.nonBlank += nonBlank(text)
	for line := range strings.Lines(string(text)) {
		if utf8.RuneCountInString(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")) > longLine {
			h.long++
		}
	}
	dir := filepath.Dir(path)
	r := h.rooms[dir]
	if r == nil {
		r = &room{path: dir, methods: map[string]int{}, interfaces: map[string]int{}}
		h.rooms[dir] = r
	}
	lines, err := r.add(path, text)
	h.code += lines
	return err
}

func (h *house) sorted() []*room {
	rooms := make([]*room, 0, len(h.rooms))
	for _, r := range h.rooms {
		rooms = append(rooms, r)
	}
	slices.SortFunc(rooms, func(a, b *room) int { return cmp.Or(cmp.Compare(b.code, a.code), cmp.Compare(a.path, b.path)) })
	return rooms
}

func (h *house) widest(of func(*room) map[string]int) []wide {
	var all []wide
	for _, r := range h.sorted() {
		for name, methods := range of(r) {
			all = append(all, wide{r.path + "." + name, methods})
		}
	}
	slices.SortFunc(all, func(a, b wide) int {
		return cmp.Or(cmp.Compare(b.methods, a.methods), cmp.Compare(a.name, b.name))
	})
	return all[:min(len(all), listedAtMost)]
}

func nonBlank(text []byte) (lines int) {
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	return lines
}
