package notify

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// The most bytes of names and of texts in a message. A tenant chooses names, and other services
// choose texts.
const (
	mostName = 200
	mostText = 1000
)

// plain returns a text as one line of valid UTF-8, of at most the given number of bytes. It replaces
// characters that control a terminal or reverse the direction of text.
func plain(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
	return notification.Cut(text, most)
}

// plainMessage returns a message of which each text is plain.
func plainMessage(m notification.Message) notification.Message {
	m.Notification = plain(m.Notification, mostName)
	m.PageURL = plain(m.PageURL, mostText)
	m.Lines, m.Open = plainLines(m.Lines), plainLines(m.Open)
	return m
}

func plainLines(lines []notification.Line) []notification.Line {
	lines = slices.Clone(lines)
	for n := range lines {
		l := &lines[n]
		l.Object, l.Condition = plain(l.Object, mostName), plain(l.Condition, 2*mostName)
		l.ID, l.Text, l.Remedy = plain(l.ID, mostName), plain(l.Text, mostText), plain(l.Remedy, mostText)
		l.Kind = history.Kind(plain(string(l.Kind), mostName))
	}
	return lines
}

// leftOut returns the event for receivers without a text: the number of events without a line. Its ID
// is the same in each attempt.
func leftOut(m notification.Message) (l notification.Line, some bool) {
	text := reason.EventsWithoutLine(reason.Count(m.LeftOut)).String()
	return notification.Line{
		ID: m.ID, At: m.Attempted, Object: "notification/" + m.Notification, Severity: notification.Warning, Text: text, ClaimedAt: m.Attempted,
	}, m.LeftOut > 0
}

// paragraph is one line of a message's text, or a link to a page of gpupool.
type paragraph struct {
	text string
	link bool
}

// paragraphs returns the text of a message, of at most about the given number of bytes. Links are
// ours: a plain text contains no line break, so it can't begin a paragraph.
func paragraphs(m notification.Message, most int) []paragraph {
	var list []paragraph
	page := strings.TrimSuffix(m.PageURL, "/")
	for text := range strings.SplitSeq(m.Text(most, nil), "\n") {
		p := paragraph{text: text}
		if page != "" && strings.HasPrefix(text, page) {
			if address := webAddress(text); address != "" {
				p = paragraph{text: address, link: true}
			}
		}
		list = append(list, p)
	}
	return list
}

// webAddress returns an address as it is sent, with escapes; empty if it is not one of the web.
func webAddress(text string) string {
	u := notification.WebAddress(text)
	if u == nil {
		return ""
	}
	return u.String()
}

// fit returns a body of at most the given number of bytes. It reduces the room for text until the
// body fits.
func fit(most int, body func(room int) []byte) []byte {
	for room := most; ; room -= room/4 + 1 {
		if b := body(room); len(b) <= most || room <= 0 {
			return b
		}
	}
}
