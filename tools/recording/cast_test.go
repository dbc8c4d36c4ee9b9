package main

import (
	"strings"
	"testing"
	"time"
)

func TestRecordingShowsStepsAtReadingSpeed(t *testing.T) {
	command := []string{"-c", `printf 'setup\n\033[1m1. A step\033[0m\n   $ make\n'; sleep 2; printf 'made\n\033[1m2. Another\033[0m\n'`}
	var cast strings.Builder
	if err := run("sh", command, &cast); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(cast.String()), "\n")
	if lines[0] != `{"version":2,"width":80,"height":24}` {
		t.Errorf("the header is %s", lines[0])
	}
	if strings.Contains(cast.String(), "setup") {
		t.Error("it shows what was printed before the first step")
	}
	for _, want := range []string{`[0,"o","\u001b[2J\u001b[H"]`, `"o","m"]`, `"o","made\r\n"]`} {
		if !strings.Contains(cast.String(), want) {
			t.Errorf("it has no %s:\n%s", want, &cast)
		}
	}
}

func TestAFailedCommandIsReportedWithItsOutput(t *testing.T) {
	err := run("sh", []string{"-c", "echo no cloud; exit 3"}, &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "no cloud") {
		t.Errorf("got %v", err)
	}
}

func TestRetimeShortensWaits(t *testing.T) {
	start := time.Now()
	heading := "\x1b[1m1. A step\x1b[0m\r\n"
	events := retime([]line{{start, heading}, {start.Add(time.Minute), "done\r\n"}, {start.Add(2 * time.Minute), heading}})
	if got, most := events[len(events)-1].at, longest+shortest+lastStep; got > most {
		t.Errorf("it takes %s, more than %s", got, most)
	}
}
