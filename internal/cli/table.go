package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// table lines cells up in columns. Colour is for the last column alone, which
// needs no padding: tabwriter would count the colour's bytes as width.
type table struct{ rows [][]string }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write writes the table; each line is indented.
func (t *table) write(w io.Writer, indent string) error {
	var out bytes.Buffer
	tw := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	for _, row := range t.rows {
		fmt.Fprintln(tw, strings.Join(row, "\t"))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(out.String()) {
		if _, err := io.WriteString(w, indent+strings.TrimRight(line, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// orDash stands for what is not there.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
