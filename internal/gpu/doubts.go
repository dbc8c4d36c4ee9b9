package gpu

import (
	"fmt"
	"slices"
)

// doubts collects what could not be understood about one pod, each once.
type doubts struct {
	texts []string
	lost  bool // something does not count because of it
}

func (d *doubts) add(text string) {
	if text != "" && !slices.Contains(d.texts, text) {
		d.texts = append(d.texts, text)
	}
}

func (d *doubts) addf(format string, args ...any) { d.add(fmt.Sprintf(format, args...)) }

// recordLossf adds a doubt about something that therefore does not count.
func (d *doubts) recordLossf(format string, args ...any) {
	d.lost = true
	d.addf(format, args...)
}
