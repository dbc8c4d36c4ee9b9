// Package describe words for people what several commands print of pools, budgets
// and decisions. What one command alone prints is its own.
package describe

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// Details gathers the lines that there are about one object.
type Details struct {
	Style terminal.Style
	Lines []string
}

// Add adds texts, each behind its label.
func (s *Details) Add(c terminal.Colour, label string, texts ...string) {
	for _, text := range texts {
		s.Lines = append(s.Lines, s.Style.Paint(c, label)+Indented(text, "    "))
	}
}

// HeldBack says why a pool's budget would let it launch nothing, where it has
// nothing to launch.
func (s *Details) HeldBack(p reconcile.PoolReport) {
	if why := p.HeldBack(); why != "" {
		s.Add(terminal.Yellow, "held back: ", why)
	}
}

// namesAtMost is how many pools with the same story are named.
const namesAtMost = 3

// Sections are what there is to say about pools. What is the same of many, such
// as a refusal of the credentials, is said once.
type Sections struct {
	told  []*section
	lines map[string]*section
}

type section struct {
	pools []string
	lines []string
}

func (s *Sections) Add(pool string, lines []string) {
	if len(lines) == 0 {
		return
	}
	key := strings.Join(lines, "\n")
	if t := s.lines[key]; t != nil {
		t.pools = append(t.pools, pool)
		return
	}
	if s.lines == nil {
		s.lines = map[string]*section{}
	}
	s.lines[key] = &section{pools: []string{pool}, lines: lines}
	s.told = append(s.told, s.lines[key])
}

// Write writes a block for each story, with an empty line before it.
func (s *Sections) Write(out *bytes.Buffer, look terminal.Style) {
	for _, t := range s.told {
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintln(out, look.Paint(terminal.Bold, t.title()))
		for _, line := range t.lines {
			fmt.Fprintln(out, "  "+line)
		}
	}
}

func (t *section) title() string { return FirstOf(t.pools, namesAtMost) }

// FirstOf names the first few of a list.
func FirstOf(list []string, most int) string {
	if more := len(list) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), more)
	}
	return strings.Join(list, ", ")
}

func (s *Details) Reasons(reasons []string) {
	for _, reason := range reasons {
		s.Lines = append(s.Lines, "  - "+reason)
	}
}

// Indented keeps the further lines of a text below its first.
func Indented(text, by string) string { return strings.ReplaceAll(text, "\n", "\n"+by) }
