package notification

import (
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
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

// Title returns one line about the message.
func (m Message) Title() string {
	switch {
	case m.Test:
		return "gpupool: test of the notification " + m.Notification
	case len(m.Lines) == 1:
		return "gpupool: " + m.Lines[0].title()
	}
	return "gpupool: " + wording.Count(len(m.Lines)+m.LeftOut, "event")
}

func (l Line) title() string {
	what := strings.ReplaceAll(string(l.Kind), "_", " ")
	switch {
	case l.Resolved && l.Kind.Trouble():
		what = "no longer " + map[history.Kind]string{history.Refused: "refused", history.Failed: "failing", history.RunFailed: "failing"}[l.Kind]
	case l.Resolved && SeverityOf(l.Kind) != Info:
		what = "no longer " + what
	}
	return l.Object + ": " + what
}

// String returns the line as text.
func (l Line) String() string {
	if l.Text == "" {
		return l.title()
	}
	return l.title() + ": " + l.Text
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

const repeated = "Sent again, since an earlier attempt may have arrived."

// Text returns the message as plain text of at most the given number of bytes. escape escapes the
// markup of what is variable; nil leaves it as it is. Lines that do not fit are counted.
func (m Message) Text(most int, escape func(string) string) string {
	if escape == nil {
		escape = func(text string) string { return text }
	}
	head := escape(m.Title())
	if m.Test {
		head += "\n" + escape("Messages arrive. Events of pools and budgets are sent here.")
	}
	if m.Repeated {
		head += "\n" + repeated
	}
	var lines []string
	for _, l := range m.Lines {
		line := escape(timeIn(m.Zone, l.At)) + "  " + escape(l.String())
		if link := m.Link(l); link != "" {
			line += "\n" + escape(link)
		}
		lines = append(lines, line)
	}
	for shown := len(lines); ; shown-- {
		text := strings.Join(append([]string{head}, lines[:shown]...), "\n")
		if more := len(lines) - shown + m.LeftOut; more > 0 {
			text += fmt.Sprintf("\nand %d more: gpupool history lists them", more)
		}
		if len(text) <= most || shown == 0 {
			return Cut(text, most)
		}
	}
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

// Failure is why a message was not delivered.
type Failure struct {
	// The code of the receiver, such as `45009` or `HTTP 403`.
	Code string `json:"code,omitempty"`
	// The message of the receiver, or the error of the connection.
	Message string `json:"message"`
	// The remedy.
	Remedy string `json:"remedy,omitempty"`
	// Whether the message may have arrived.
	Uncertain bool `json:"uncertain,omitempty"`
	// The time that the receiver asked for, which the next attempt respects.
	RetryAfter time.Duration `json:"-"`
}

// Error returns the code and the message.
func (f *Failure) Error() string {
	if f.Code == "" {
		return f.Message
	}
	return f.Code + ": " + f.Message
}
