package oncall

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
)

// The size of the terminal that people read at night.
const (
	columns = 80
	rows    = 24
)

// screen is what a command shows on a terminal, line by line.
func (s *scene) screen(args ...string) []string {
	s.t.Helper()
	out, err := s.command(true, "gpupool", args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		// Progress, which was taken away again.
		if at := strings.LastIndex(line, "\r\x1b[K"); at >= 0 {
			line = line[at+len("\r\x1b[K"):]
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// check compares the first screen with its golden file, which must contain the cause and the
// remedy.
func check(t *testing.T, name, command string, lines []string, cause, remedy string) {
	t.Helper()
	for _, line := range lines[:min(len(lines), rows)] {
		if n := utf8.RuneCountInString(line); n > columns {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	text := "$ gpupool " + command + "\n" + strings.Join(lines[:min(len(lines), rows-1)], "\n") + "\n" // a row is the command's
	for what, pattern := range map[string]string{"cause": cause, "remedy": remedy} {
		// Texts are broken into lines wherever the screen ends.
		if whole := strings.Join(strings.Fields(text), " "); !regexp.MustCompile(pattern).MatchString(whole) {
			t.Errorf("the first screen does not name the %s (%s):\n%s", what, pattern, text)
		}
	}
	if more := len(lines) - (rows - 1); more > 0 {
		text += fmt.Sprintf("(%d more lines)\n", more)
	}
	clitest.GoldenFile(t, filepath.Join("testdata", name+".golden"), text)
}

// sameLength are what differs from one test to the next, and is as long each time.
var sameLength = []struct {
	form *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`ins-[0-9a-z]{8}\b`), "ins-xxxxxxxx"},
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"},
	{regexp.MustCompile(`\b[0-9a-f]{32}\b`), strings.Repeat("x", 32)},
	{regexp.MustCompile(`\bml-[0-9a-z]{5}\b`), "ml-xxxxx"}, // a namespace
}

// atAnyTime are the fields of scenes whose clock is the cluster's.
var atAnyTime = []struct {
	form *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`), "hh:mm:ss"},
	{regexp.MustCompile(`\b\d\d:\d\d\b`), "hh:mm"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d\b`), "yyyy-mm-dd"},
	{regexp.MustCompile(`(hh:mm|yyyy-mm-dd|times in) (?:[+-]\d\d|GMT|UTC)`), "$1 zone"},
	{regexp.MustCompile(`\b\d+\.\d{3}\b`), "n.nnn"},
	{regexp.MustCompile(`\b\d+\.\d%`), "n.n%"},
	{regexp.MustCompile(`\b\d+%`), "nnn%"},
	{regexp.MustCompile(`\b(?:\d+[smh])+( ago|,|:)`), "nn$1"},
	{regexp.MustCompile(`\([+-]\d\d\)`), "(+nn)"},
}

// normal is the lines without what differs from one test to the next.
func normal(lines []string, anyTime bool) []string {
	var all []string
	for _, line := range lines {
		for _, r := range sameLength {
			line = r.form.ReplaceAllString(line, r.as)
		}
		if anyTime {
			for _, r := range atAnyTime {
				line = r.form.ReplaceAllString(line, r.as)
			}
		}
		all = append(all, line)
	}
	if anyTime {
		return aligned(all)
	}
	return all
}

var (
	titles  = regexp.MustCompile(`^[A-Z][A-Z-]+( +[A-Z][A-Z/-]*)+$`)
	between = regexp.MustCompile(` {2,}`)
)

// aligned is a text in which the columns of tables stand below their titles again.
func aligned(lines []string) []string {
	for n := 0; n < len(lines); n++ {
		if !titles.MatchString(lines[n]) {
			continue
		}
		columns := len(between.Split(lines[n], -1))
		var table [][]string
		widths := make([]int, columns)
		for _, line := range lines[n:] {
			cells := between.Split(line, -1)
			if len(cells) != columns {
				break
			}
			for c, cell := range cells {
				widths[c] = max(widths[c], utf8.RuneCountInString(cell))
			}
			table = append(table, cells)
		}
		if len(table) == 1 { // what is below has columns that are empty
			continue
		}
		for _, cells := range table {
			line := ""
			for c, cell := range cells {
				line += fmt.Sprintf("%-*s  ", widths[c], cell)
			}
			lines[n] = strings.TrimRight(line, " ")
			n++
		}
	}
	return lines
}
