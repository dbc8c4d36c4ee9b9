package main

import (
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"time"
)

const (
	perKey   = 20 * time.Millisecond   // of a command that is typed
	perLine  = 25 * time.Millisecond   // of output
	longest  = 600 * time.Millisecond  // that the screen stands still within a step
	toRead   = 150 * time.Millisecond  // a line, after a step
	shortest = 1500 * time.Millisecond // a step
	lastStep = 6 * time.Second

	clearScreen = "\x1b[2J\x1b[H"
)

// event is one output of an asciicast.
type event struct {
	at   time.Duration
	text string
}

// heading is the first line of a step.
var heading = regexp.MustCompile(`^\x1b\[1m\d+\. `)

// retime turns the steps of lines into events at reading speed.
func retime(lines []line) (events []event) {
	var now time.Duration
	var last time.Time
	started, unread := false, 0
	for _, l := range lines {
		switch heading := heading.MatchString(l.text); {
		case heading && started:
			now += max(shortest, time.Duration(min(unread, height))*toRead)
			fallthrough
		case heading:
			events = append(events, event{now, clearScreen})
			started, unread = true, 0
		case !started:
			continue
		default:
			now += min(longest, max(perLine, l.at.Sub(last)))
		}
		last = l.at
		if strings.TrimSpace(l.text) != "" {
			unread++
		}
		events = append(events, typed(&now, withoutProgress(l.text))...)
	}
	if len(events) > 0 { // the last screen stays for a while
		events = append(events, event{now + lastStep, ""})
	}
	return events
}

// withoutProgress is a line as it was when it ended, without what was drawn there before.
func withoutProgress(text string) string {
	if i := strings.LastIndexByte(strings.TrimRight(text, "\r\n"), '\r'); i >= 0 {
		return text[i+1:]
	}
	return text
}

const prompt = "   $ "

// typed is a line, key by key if it is a command.
func typed(now *time.Duration, text string) (events []event) {
	command, is := strings.CutPrefix(text, prompt)
	if !is {
		return []event{{*now, text}}
	}
	events = append(events, event{*now, prompt})
	*now += longest
	for _, key := range command {
		events = append(events, event{*now, string(key)})
		*now += perKey
	}
	return events
}

// write writes an asciicast v2: a header, and a line for each event.
func write(out io.Writer, events []event) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	header := struct {
		Version int `json:"version"`
		Width   int `json:"width"`
		Height  int `json:"height"`
	}{2, width, height}
	if err := encoder.Encode(header); err != nil {
		return err
	}
	for _, e := range events {
		if err := encoder.Encode([]any{e.at.Seconds(), "o", e.text}); err != nil {
			return err
		}
	}
	return nil
}
