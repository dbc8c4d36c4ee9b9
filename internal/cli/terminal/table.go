package terminal

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
)

// Table aligns cells in columns. Only the last column can have colours: it needs no
// padding, and tabwriter would count their bytes as width.
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
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 8, between, ' ', 0)
	for _, row := range t.rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a buffer never fails
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for n := range lines {
		lines[n] = strings.TrimRight(lines[n], " ")
	}
	return lines
}

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

// width is how wide the table is. Colours in the last column take no room.
func (t *Table) width() int {
	var columns []int
	for _, row := range t.rows {
		for n, cell := range row {
			if n == len(columns) {
				columns = append(columns, 0)
			}
			columns[n] = max(columns[n], utf8.RuneCountInString(withoutColours(cell)))
		}
	}
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
