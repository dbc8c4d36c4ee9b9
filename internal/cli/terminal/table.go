package terminal

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
)

// Table aligns cells in columns. Colors have no width.
type Table struct {
	rows  [][]string
	limit map[int]int // the width at which the cells of a column wrap
}

// Add adds a row. A name with a tab or a newline in it stays in its cell.
func (t *Table) Add(cells ...string) {
	row := make([]string, len(cells))
	for n, cell := range cells {
		row[n] = cellBreaks.Replace(cell)
	}
	t.rows = append(t.rows, row)
}

var cellBreaks = strings.NewReplacer("\t", printable.Line("\t"), "\n", printable.Line("\n"))

// between is the space between columns.
const between = 2

// Lines are the aligned rows. A row has several lines if a cell of it wraps.
func (t *Table) Lines() []string {
	columns := t.columns()
	var lines []string
	for _, row := range t.rows {
		cells, height := make([][]string, len(row)), 1
		for at, cell := range row {
			cells[at] = t.wrapped(at, cell)
			height = max(height, len(cells[at]))
		}
		for n := range height {
			var line strings.Builder
			for at, of := range cells {
				text := ""
				if n < len(of) {
					text = of[n]
				}
				line.WriteString(text + strings.Repeat(" ", columns[at]-visible(text)+between))
			}
			lines = append(lines, strings.TrimRight(line.String(), " "))
		}
	}
	return lines
}

// painted is a text in one color.
var painted = regexp.MustCompile("^(\x1b\\[[0-9;]+m)(.*)(\x1b\\[0m)$")

// wrapped are the lines of a cell. Each has the color of the cell.
func (t *Table) wrapped(column int, cell string) []string {
	limit, limited := t.limit[column]
	if !limited || visible(cell) <= limit {
		return []string{cell}
	}
	color, text, reset := "", cell, ""
	if parts := painted.FindStringSubmatch(cell); parts != nil {
		color, text, reset = parts[1], parts[2], parts[3]
	}
	lines := Wrap(text, limit, "")
	for n, line := range lines {
		lines[n] = color + line + reset
	}
	return lines
}

// columns are the widths of the columns.
func (t *Table) columns() []int {
	var columns []int
	for _, row := range t.rows {
		for n, cell := range row {
			if n == len(columns) {
				columns = append(columns, 0)
			}
			for _, line := range t.wrapped(n, cell) {
				columns[n] = max(columns[n], visible(line))
			}
		}
	}
	return columns
}

// visible is the width of a text in characters.
func visible(s string) int { return utf8.RuneCountInString(withoutColors(s)) }

// Fit makes a table no wider than this. It removes columns by their titles, one after the
// other, and then wraps cells between words, the widest column first. No word is cut: a
// table with long names may stay wider.
func (t *Table) Fit(width int, spare ...string) {
	for _, title := range spare {
		if t.Fits(width) {
			break
		}
		if n := slices.Index(t.rows[0], title); n >= 0 {
			for i, row := range t.rows {
				t.rows[i] = slices.Delete(row, n, n+1)
			}
		}
	}
	t.limit = map[int]int{}
	for over := t.full() - width; over > 0; over = t.full() - width {
		widest, room := -1, 0
		columns := t.columns()
		for n, column := range columns {
			if least := max(t.longestWord(n), column-over); least < column && column > room {
				widest, room = n, column
			}
		}
		if widest < 0 {
			return
		}
		t.limit[widest] = max(t.longestWord(widest), room-over)
	}
}

// Fitted builds a table that is no wider than this; 0 is no limit. It removes bars first.
func Fitted(style Style, width int, build func(Style) *Table, spare ...string) *Table {
	t := build(style)
	if width == 0 {
		return t
	}
	if !t.Fits(width) {
		style.Width = 0
		t = build(style)
	}
	t.Fit(width, spare...)
	return t
}

// longestWord is the width of the longest word in a column.
func (t *Table) longestWord(column int) int {
	longest := 0
	for _, row := range t.rows {
		if column < len(row) {
			for word := range strings.SplitSeq(row[column], " ") {
				longest = max(longest, visible(word))
			}
		}
	}
	return longest
}

// Fits reports whether the table is no wider than this.
func (t *Table) Fits(width int) bool {
	columns := t.columns()
	last := columns[len(columns)-1]
	return t.full()-last+min(last, mostOfLast) <= width
}

// mostOfLast is the width that the last column needs at least: it may be a sentence.
const mostOfLast = 40

// full is the width of the table.
func (t *Table) full() int {
	columns := t.columns()
	width := between * (len(columns) - 1)
	for _, column := range columns {
		width += column
	}
	return width
}

// Write writes the table.
func (t *Table) Write(out *bytes.Buffer) {
	for _, line := range t.Lines() {
		fmt.Fprintln(out, line)
	}
}
