package cli_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notify/notifytest"
)

// chat is a message of a chat: a line for each event, and the number of those without a line.
type chat struct {
	lines    []string
	more     int
	repeated bool
}

func readChat(text string) (c chat) {
	for n, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var more int
		switch {
		case n == 0: // the title
		case strings.HasPrefix(line, "sent again"):
			c.repeated = true
		case strings.HasPrefix(line, "and "):
			if _, err := fmt.Sscanf(line, "and %d more", &more); err == nil {
				c.more = more
			}
		case line != "":
			c.lines = append(c.lines, line)
		}
	}
	return c
}

// repeats reports whether two messages have the same first events. Later ones may have no room in one of them.
func (c chat) repeats(old chat) bool {
	n := min(len(c.lines), len(old.lines))
	return n > 0 && slices.Equal(c.lines[:n], old.lines[:n])
}

// aboutOf returns what a line is about: its time, its object and the kind of the event, without the severity and texts.
func aboutOf(line string) string {
	at, rest, _ := strings.Cut(line, "  ")
	_, rest, _ = strings.Cut(rest, "  ")
	parts := strings.SplitN(rest, ": ", 3)
	return at + "  " + strings.Join(parts[:min(2, len(parts))], ": ")
}

// lineOf returns the line of an event in a chat, without texts.
func lineOf(e *history.Event) string {
	return e.At.UTC().Format("2006-01-02 15:04 MST") + "  info  " + e.Object + ": " + strings.ReplaceAll(string(e.Kind), "_", " ")
}

// tallyTexts compares lines. A message that says "sent again" counts instead of the one that it repeats.
func tallyTexts(arrivals []notifytest.Arrival, selected []history.Event) (c tally) {
	var messages []chat
	for _, a := range arrivals {
		m := readChat(a.Text)
		old := slices.IndexFunc(messages, m.repeats)
		switch {
		case m.repeated && old >= 0:
			c.repeated++
			messages[old] = m
		default:
			messages = append(messages, m)
		}
	}
	due := map[string]int{}
	for n := range selected {
		due[aboutOf(lineOf(&selected[n]))]++
	}
	for _, m := range messages {
		c.counted += m.more
		for _, line := range m.lines {
			if about := aboutOf(line); due[about] < 1 {
				c.duplicates = append(c.duplicates, line)
			} else {
				due[about]--
			}
		}
	}
	for line, n := range due {
		for range n {
			c.lost = append(c.lost, line)
		}
	}
	slices.Sort(c.lost)
	if len(c.lost) < c.counted {
		c.duplicates = append(c.duplicates, fmt.Sprintf("%d events are only counted, of %d without a line", c.counted, len(c.lost)))
	}
	c.lost = c.lost[min(c.counted, len(c.lost)):]
	return c
}

func TestTallyFindsDuplicatesAndLosses(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	events := []history.Event{
		{ID: "1", At: at, Kind: history.Reclaim, Object: "spot_pool/r/a", InstanceIDs: []string{"ins-1"}},
		{ID: "2", At: at, Kind: history.Reclaim, Object: "spot_pool/r/a", InstanceIDs: []string{"ins-2"}},
	}
	first, second := lineOf(&events[0]), lineOf(&events[1])
	for texts, want := range map[string][3]int{ // repeated, duplicates, lost
		"t\n" + first + "\n" + second:                              {0, 0, 0},
		"t\n" + first + "\nand 1 more: gpupool history lists them": {0, 0, 0},
		"t\n" + first: {0, 0, 1},
		"t\n" + first + "\x00t\n" + first + "\n" + second:                          {0, 1, 0},
		"t\n" + first + "\x00t\nsent again, since\n" + first + "\x00t\n" + second:  {1, 0, 0},
		"t\nsent again, since\n" + first + "\x00t\n" + second:                      {0, 0, 0},
		"t\n" + first + "\n" + second + "\nand 1 more: gpupool history lists them": {0, 1, 0},
	} {
		var arrivals []notifytest.Arrival
		for text := range strings.SplitSeq(texts, "\x00") {
			arrivals = append(arrivals, notifytest.Arrival{Text: text})
		}
		c := tallyTexts(arrivals, events)
		if got := [3]int{c.repeated, len(c.duplicates), len(c.lost)}; got != want {
			t.Errorf("%q: repeated, duplicates and lost are %v, want %v", texts, got, want)
		}
	}
}
