package main

import (
	"encoding/json"
	"io"
	"strings"
	"time"
)

const (
	perKey   = 20 * time.Millisecond   // of a command that is typed
	perLine  = 25 * time.Millisecond   // of output
	longest  = 600 * time.Millisecond  // that the screen stands still within a step
	toRead   = 120 * time.Millisecond  // a line, after a step
	shortest = 1500 * time.Millisecond // a step
	lastStep = 5 * time.Second

	clearScreen = "\x1b[2J\x1b[H"
)

// event is one output of an asciicast.
type event struct {
	at   time.Duration
	text string
}

// retime turns the steps of lines into events at reading speed.
func retime(lines []line) (events []event) {
	var now time.Duration
	var last time.Time
	started, unread := false, 0
	for _, l := range lines {
		switch heading := strings.HasPrefix(l.text, "\x1b[1m"); {
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
		events = append(events, typed(&now, l.text)...)
	}
	if len(events) > 0 { // the last screen stays for a while
		events = append(events, event{now + lastStep, ""})
	}
	return events
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
