package gpu

import (
	"fmt"
	"slices"
)

// doubts collects what about one pod could not be understood, each once.
type doubts struct {
	texts []string
	lost  bool // something is not counted because of it
}

func (d *doubts) add(text string) {
	if text != "" && !slices.Contains(d.texts, text) {
		d.texts = append(d.texts, text)
	}
}

func (d *doubts) addf(format string, args ...any) { d.add(fmt.Sprintf(format, args...)) }

// losef is a doubt about something that is therefore not counted.
func (d *doubts) losef(format string, args ...any) {
	d.lost = true
	d.addf(format, args...)
}
