package terminal

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
)

// Table aligns cells in columns. Colours take no room.
type Table struct{ rows [][]string }

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

// Lines are the table's rows, aligned.
func (t *Table) Lines() []string {
	columns := t.columns()
	lines := make([]string, len(t.rows))
	for n, row := range t.rows {
		var line strings.Builder
		for at, cell := range row {
			line.WriteString(cell)
			if at < len(row)-1 {
				line.WriteString(strings.Repeat(" ", columns[at]-visible(cell)+between))
			}
		}
		lines[n] = strings.TrimRight(line.String(), " ")
	}
	return lines
}

// columns are how wide the columns are.
func (t *Table) columns() []int {
	var columns []int
	for _, row := range t.rows {
		for n, cell := range row {
			if n == len(columns) {
				columns = append(columns, 0)
			}
			columns[n] = max(columns[n], visible(cell))
		}
	}
	return columns
}

// visible is how many characters of a text take room.
func visible(s string) int { return utf8.RuneCountInString(withoutColours(s)) }

// Fit leaves out columns by their titles, one after the other, until the table is no
// wider than this. Where that is not enough, it shortens the first column.
func (t *Table) Fit(width int, spare ...string) {
	for _, title := range spare {
		if t.Fits(width) {
			return
		}
		if n := slices.Index(t.rows[0], title); n >= 0 {
			for i, row := range t.rows {
				t.rows[i] = slices.Delete(row, n, n+1)
			}
		}
	}
	if over := t.width() - width; over > 0 {
		t.cutFirst(over)
	}
}

// Fits reports whether the table is no wider than this.
func (t *Table) Fits(width int) bool { return t.width() <= width }

// mostOfLast is how much of the last column has to be visible: it may be a sentence.
const mostOfLast = 40

// width is how wide the table is.
func (t *Table) width() int {
	columns := t.columns()
	width, last := 0, len(columns)-1
	for n, column := range columns {
		if n == last {
			return width + min(column, mostOfLast)
		}
		width += column + between
	}
	return width
}

// shortest is the least that is left of a shortened cell.
const shortest = 8

// cutFirst shortens the first column by this much.
func (t *Table) cutFirst(over int) {
	longest := 0
	for _, row := range t.rows {
		longest = max(longest, utf8.RuneCountInString(row[0]))
	}
	most := max(shortest, longest-over)
	for _, row := range t.rows {
		if runes := []rune(row[0]); len(runes) > most {
			row[0] = string(runes[:most-1]) + "…"
		}
	}
}

// Write writes the table.
func (t *Table) Write(out *bytes.Buffer) {
	for _, line := range t.Lines() {
		fmt.Fprintln(out, line)
	}
}
