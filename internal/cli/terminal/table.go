package terminal

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
)

// Table lines cells up in columns. Colour is for the last column alone, which
// needs no padding: tabwriter would count the colour's bytes as width.
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

// Lines are the table's rows, lined up.
func (t *Table) Lines() []string {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	for _, row := range t.rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a buffer takes everything
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for n := range lines {
		lines[n] = strings.TrimRight(lines[n], " ")
	}
	return lines
}

// Write writes the table.
func (t *Table) Write(out *bytes.Buffer) {
	for _, line := range t.Lines() {
		fmt.Fprintln(out, line)
	}
}
