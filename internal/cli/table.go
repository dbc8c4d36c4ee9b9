package cli

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
)

// table lines cells up in columns. Colour is for the last column alone, which
// needs no padding: tabwriter would count the colour's bytes as width.
type table struct{ rows [][]string }

// A cell is a cell, whatever name stands in it.
func (t *table) add(cells ...string) {
	row := make([]string, len(cells))
	for n, cell := range cells {
		row[n] = cellBreaks.Replace(cell)
	}
	t.rows = append(t.rows, row)
}

var cellBreaks = strings.NewReplacer("\t", printable.Line("\t"), "\n", printable.Line("\n"))

// lines are the table's rows, lined up.
func (t *table) lines() []string {
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

func (t *table) write(out *bytes.Buffer) {
	for _, line := range t.lines() {
		fmt.Fprintln(out, line)
	}
}

// orDash stands for what is not there.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
