package cli

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// story gathers the lines that there are about one object.
type story struct {
	look  style
	lines []string
}

// add adds texts, each behind its label.
func (s *story) add(c colour, label string, texts ...string) {
	for _, text := range texts {
		s.lines = append(s.lines, s.look.paint(c, label)+indented(text, "    "))
	}
}

// heldBack says why a pool's budget would let it launch nothing, where it has
// nothing to launch.
func (s *story) heldBack(p reconcile.PoolReport) {
	if why := p.HeldBack(); why != "" {
		s.add(yellow, "held back: ", why)
	}
}

// namesAtMost is how many pools with the same story are named.
const namesAtMost = 3

// stories are what there is to say about pools. What is the same of many, such
// as a refusal of the credentials, is said once.
type stories struct {
	told  []*toldStory
	lines map[string]*toldStory
}

type toldStory struct {
	pools []string
	lines []string
}

func (s *stories) add(pool string, lines []string) {
	if len(lines) == 0 {
		return
	}
	key := strings.Join(lines, "\n")
	if t := s.lines[key]; t != nil {
		t.pools = append(t.pools, pool)
		return
	}
	if s.lines == nil {
		s.lines = map[string]*toldStory{}
	}
	s.lines[key] = &toldStory{pools: []string{pool}, lines: lines}
	s.told = append(s.told, s.lines[key])
}

// write writes a block for each story, with an empty line before it.
func (s *stories) write(out *bytes.Buffer, look style) {
	for _, t := range s.told {
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintln(out, look.paint(bold, t.title()))
		for _, line := range t.lines {
			fmt.Fprintln(out, "  "+line)
		}
	}
}

func (t *toldStory) title() string { return firstOf(t.pools, namesAtMost) }

// firstOf names the first few of a list.
func firstOf(list []string, most int) string {
	if more := len(list) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), more)
	}
	return strings.Join(list, ", ")
}
