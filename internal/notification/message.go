package notification

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Severity says how urgent an event is.
type Severity string

// The severities, as PagerDuty names them. Critical ones are sent in quiet hours, too.
const (
	Critical Severity = "critical"
	Error    Severity = "error"
	Warning  Severity = "warning"
	Info     Severity = "info"
)

var severities = []Severity{Info, Warning, Error, Critical}

// SeverityOf returns the severity of a kind of events.
func SeverityOf(k history.Kind) Severity {
	switch k {
	case history.RunFailed, history.Loss, history.Exceeded:
		return Critical
	case history.Failed, history.Suspend:
		return Error
	case history.Threshold, history.Refused, history.Reclaim, history.Lost, history.Notice, history.GateClosed, history.Freeze, history.Frozen,
		history.Pause, history.Paused, history.Evict, history.Evicted, history.Replace, history.Revert, history.Grant, history.Hold:
		return Warning
	}
	return Info
}

// Line is one event in a message.
type Line struct {
	ID       string       `json:"id"` // of the event
	At       time.Time    `json:"at"`
	Kind     history.Kind `json:"kind"`
	Object   string       `json:"object"`
	Severity Severity     `json:"severity"`
	Text     string       `json:"text"`
	Remedy   string       `json:"remedy,omitempty"`
	// Condition identifies a lasting condition that the event begins or, if Resolved, ends, such as
	// "budget/team-a/exceeded". Empty for an event that only happens.
	Condition string `json:"condition,omitempty"`
	Resolved  bool   `json:"resolved,omitempty"`
	// ClaimedAt is when a run claimed the event for its message.
	ClaimedAt time.Time `json:"claimed_at"`
}

// Message is one message. It consists of lines, of which a sender may omit the last ones if it has
// not enough room.
type Message struct {
	// ID is the same in each attempt, and another in each message.
	ID string
	// Notification is the name of the notification.
	Notification string
	// Attempted is when this attempt begins.
	Attempted time.Time
	// Lines are the events, in the order of their time. Only a test has none.
	Lines []Line
	// Open are the conditions that began or ended earlier, for a receiver of alerts that forgets those
	// which are not repeated. Lifetime is how long lasting ones fire without another message.
	Open     []Line
	Lifetime time.Duration
	// LeftOut counts earlier events without a line.
	LeftOut int
	// Repeated marks a message of which an earlier attempt may have arrived.
	Repeated bool
	// Test marks a message that a person requested.
	Test bool
	// Zone is the time zone of times in texts. PageURL is the address of the page; empty without one.
	Zone    *time.Location
	PageURL string
}

// words writes the codes of this package. Their arguments are words and numbers.
var words reason.Renderer

// Title returns one line about the message. Of several events, it names the most urgent one.
func (m Message) Title() string {
	const product = "gpupool: "
	switch {
	case m.Test:
		return product + words.Text(reason.TestMessage(reason.Word(m.Notification)))
	case len(m.Lines) == 0:
		return product + words.Text(reason.EventCount(reason.Count(m.LeftOut)))
	}
	first := slices.MaxFunc(m.Lines, func(a, b Line) int { return cmp.Compare(a.urgency(), b.urgency()) })
	title := first.title()
	if more := len(m.Lines) - 1 + m.LeftOut; more > 0 {
		title = reason.AndMoreEvents(title, reason.Count(more))
	}
	return product + first.level() + ": " + words.Text(title)
}

// urgency orders lines by severity. What ended is not urgent.
func (l Line) urgency() int {
	if l.Resolved {
		return -1
	}
	return slices.Index(severities, l.Severity)
}

// level returns the severity in texts.
func (l Line) level() string {
	if l.Resolved {
		return "resolved"
	}
	return string(l.Severity)
}

func (l Line) title() reason.Reason {
	object, event := reason.Word(l.Object), reason.Word(strings.ReplaceAll(string(l.Kind), "_", " "))
	switch {
	case l.Resolved && (l.Kind == history.Failed || l.Kind == history.RunFailed):
		return reason.NoLonger(object, "failing")
	case l.Resolved && SeverityOf(l.Kind) != Info:
		return reason.NoLonger(object, event)
	}
	return reason.EventTitle(object, event)
}

// String returns the line as text.
func (l Line) String() string { return l.cut(len(l.Text) + len(l.Remedy)) }

// cut returns the line as text, of which what happened and the remedy have at most the given number of bytes.
func (l Line) cut(most int) string {
	text := words.Text(l.title())
	if l.Text != "" {
		text += ": " + Cut(l.Text, most)
	}
	if room := most - len(l.Text); l.Remedy != "" && len(l.Remedy) <= room {
		text = strings.TrimSuffix(text, ".") + ". " + l.Remedy
	}
	return text
}

// Link returns the address of the page of a line's object; empty without a page.
func (m Message) Link(l Line) string {
	kind, key, named := strings.Cut(l.Object, "/")
	switch {
	case m.PageURL == "":
		return ""
	case named && pages[kind] != "":
		return strings.TrimSuffix(m.PageURL, "/") + "/" + pages[kind] + "/" + key
	}
	return m.PageURL
}

// pages are the folders of the page, by kind of object.
var pages = map[string]string{"spot_pool": "spotpools", "budget": "budgets", "stock_pool": "stockpools"}

// Text returns the message as plain text of at most the given number of bytes. escape escapes the
// markup of what is variable; nil leaves it as it is. If the lines do not fit, they are shortened.
// Those that still do not fit are counted.
func (m Message) Text(most int, escape func(string) string) string {
	if escape == nil {
		escape = func(text string) string { return text }
	}
	head := escape(m.Title())
	if m.Test {
		head += "\n" + escape(words.Text(reason.TestArrives()))
	}
	if m.Repeated {
		head += "\n" + words.Text(reason.SentAgain())
	}
	var lines []string
	for _, longest := range []int{longestLine, longestLine / 2, longestLine / 4} {
		lines = m.lines(longest, escape)
		if text := m.text(head, lines); len(text) <= most {
			return text
		}
	}
	for shown := len(lines); ; shown-- {
		if text := m.text(head, lines[:shown]); len(text) <= most || shown == 0 {
			return Cut(text, most)
		}
	}
}

// lines returns each line, cut. A link follows the first line that has it.
func (m Message) lines(longest int, escape func(string) string) []string {
	lines, linked := make([]string, len(m.Lines)), map[string]bool{"": true}
	for n, l := range m.Lines {
		lines[n] = escape(timeIn(m.Zone, l.At)) + "  " + l.level() + "  " + escape(l.cut(longest))
		if link := m.Link(l); !linked[link] {
			linked[link] = true
			lines[n] += "\n" + escape(link)
		}
	}
	return lines
}

// text returns a head and the first lines, and counts the others.
func (m Message) text(head string, lines []string) string {
	parts := append([]string{head}, lines...)
	if more := len(m.Lines) - len(lines) + m.LeftOut; more > 0 {
		parts = append(parts, words.Text(reason.MoreEvents(reason.Count(more))))
	}
	return strings.Join(parts, "\n")
}

// Cut shortens a text to at most the given number of bytes, and no character in the middle.
func Cut(text string, most int) string {
	const mark = "…"
	if len(text) <= most {
		return text
	}
	if most < len(mark) {
		return ""
	}
	return strings.ToValidUTF8(text[:most-len(mark)], "") + mark
}
