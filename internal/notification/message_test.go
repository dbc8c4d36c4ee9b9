package notification_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

func lineOf(kind history.Kind, resolved bool) notification.Line {
	return notification.Line{
		ID: "e", At: begin, Kind: kind, Object: "spot_pool/ap-singapore/train", Text: "why", Resolved: resolved, Severity: notification.SeverityOf(kind),
	}
}

// TestTitlesSayWhatHappened with the severity. Of several events, they name the most urgent one that has not ended.
func TestTitlesSayWhatHappened(t *testing.T) {
	t.Parallel()
	const train = "spot_pool/ap-singapore/train"
	lines := func(list ...notification.Line) notification.Message { return notification.Message{Lines: list} }
	ended, fails, exceeded := lineOf(history.Failed, true), lineOf(history.Failed, false), lineOf(history.Exceeded, false)
	leftOut := lines(ended, fails)
	leftOut.LeftOut = 3
	for want, m := range map[string]notification.Message{
		"gpupool: test of the notification ops":                         {Test: true, Notification: "ops"},
		"gpupool: warning: " + train + ": gate closed":                  lines(lineOf(history.GateClosed, false)),
		"gpupool: resolved: " + train + ": no longer gate closed":       lines(lineOf(history.GateClosed, true)),
		"gpupool: resolved: " + train + ": no longer failing":           lines(ended),
		"gpupool: resolved: " + train + ": no longer refused":           lines(lineOf(history.Refused, true)),
		"gpupool: resolved: " + train + ": recovered":                   lines(lineOf(history.Recovered, true)),
		"gpupool: error: " + train + ": failed, and 1 more event":       lines(ended, fails),
		"gpupool: critical: " + train + ": exceeded, and 2 more events": lines(ended, fails, exceeded),
		"gpupool: error: " + train + ": failed, and 4 more events":      leftOut,
		"gpupool: 3 events": {LeftOut: 3},
	} {
		if got := m.Title(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestLinksNameThePageOfTheObject(t *testing.T) {
	t.Parallel()
	for _, tt := range [][3]string{
		{"", "budget/team-a", ""},
		{"https://gpupool.example.com", "budget/team-a", "https://gpupool.example.com/budgets/team-a"},
		{"https://gpupool.example.com/", "spot_pool/ap-singapore/train", "https://gpupool.example.com/spotpools/ap-singapore/train"},
		{"https://gpupool.example.com", "run", "https://gpupool.example.com"},
		{"https://gpupool.example.com", "notification/ops", "https://gpupool.example.com"},
	} {
		if got := (notification.Message{PageURL: tt[0]}).Link(notification.Line{Object: tt[1]}); got != tt[2] {
			t.Errorf("of %s, got %q, want %q", tt[1], got, tt[2])
		}
	}
}

// TestTextFitsIntoItsBytes: lines that do not fit are counted, with those that were left out. A link of several lines is
// there once.
func TestTextFitsIntoItsBytes(t *testing.T) {
	t.Parallel()
	m := notification.Message{Lines: []notification.Line{lineOf(history.Failed, false), lineOf(history.Failed, true)}, PageURL: "https://x", Repeated: true}
	const (
		head   = "gpupool: error: spot_pool/ap-singapore/train: failed, and 1 more event\nsent again, since an earlier attempt may have arrived"
		first  = "\n2030-01-07 09:00 UTC  error  spot_pool/ap-singapore/train: failed: why\nhttps://x/spotpools/ap-singapore/train"
		second = "\n2030-01-07 09:00 UTC  resolved  spot_pool/ap-singapore/train: no longer failing: why"
		more   = "\nand 1 more: gpupool history lists them"
		all    = "\nand 2 more: gpupool history lists them"
	)
	for most, want := range map[int]string{
		len(head + first + second): head + first + second, len(head+first+second) - 1: head + first + more, len(head + first + more): head + first + more,
		len(head+first+more) - 1: head + all, len(head + all): head + all, len(head+all) - 1: (head + all)[:len(head+all)-4] + "…",
	} {
		if got := m.Text(most, nil); got != want {
			t.Errorf("in %d bytes, got\n%s\nwant\n%s", most, got, want)
		}
	}
	m.LeftOut = 1
	if got := m.Text(1000, nil); got != strings.Replace(head, "1 more event", "2 more events", 1)+first+second+more {
		t.Errorf("with one left out, got\n%s", got)
	}
	escaped := notification.Message{Test: true, Notification: "a_b"}.Text(1000, func(text string) string { return strings.ReplaceAll(text, "_", `\_`) })
	if want := "gpupool: test of the notification a\\_b\nmessages arrive, and events of pools and budgets are sent here"; escaped != want {
		t.Errorf("escaped, got\n%s", escaped)
	}
}

// TestLongLinesAreShortenedBeforeOneIsLeftOut, the remedy first.
func TestLongLinesAreShortenedBeforeOneIsLeftOut(t *testing.T) {
	t.Parallel()
	m := notification.Message{}
	for _, object := range []string{"budget/a", "budget/b", "budget/c", "budget/d"} {
		l := lineOf(history.Failed, false)
		l.Object, l.Text, l.Remedy = object, strings.Repeat("long ", 60), "Grant the permission."
		m.Lines = append(m.Lines, l)
	}
	if text := m.Text(10_000, nil); strings.Count(text, "Grant the permission.") != 4 || strings.Count(text, "long") != 240 {
		t.Errorf("with enough room, the text is\n%s", text)
	}
	text := m.Text(1200, nil)
	if !strings.Contains(text, "budget/d: failed: long long") || strings.Contains(text, "more:") || len(text) > 1200 {
		t.Errorf("in 1200 bytes, the text is\n%s", text)
	}
}

func TestCutKeepsCharactersWhole(t *testing.T) {
	t.Parallel()
	for most, want := range map[int]string{6: "äöü", 5: "ä…", 4: "…", 3: "…", 2: "", 0: ""} {
		if got := notification.Cut("äöü", most); got != want {
			t.Errorf("in %d bytes, got %q, want %q", most, got, want)
		}
	}
}

func TestFailuresHaveTheCodeFirst(t *testing.T) {
	t.Parallel()
	denied := reason.NotPermitted(reason.Unexplained("denied"))
	for want, f := range map[string]notification.Failure{
		"no response in time": {Reason: reason.NoResponse()}, "HTTP 403: denied": {Code: "HTTP 403", Reason: denied},
	} {
		if got := f.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestStoredFailures: a run reads what it stored, and the message and the remedy that an earlier version stored.
func TestStoredFailures(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]string{
		`{"code":"45009","message":"api freq out of limit.","remedy":"Wait a minute.","uncertain":true}`: "45009: api freq out of limit. Wait a minute",
		`{"message":"no response in time"}`: "no response in time",
	} {
		var j notification.Journal
		if err := json.Unmarshal([]byte(`{"uid":"u","notification":"ops","failure":`+stored+`}`), &j); err != nil {
			t.Fatal(err)
		}
		if got := roundTrip(j).Failure; got.Error() != want || got.Uncertain != strings.Contains(stored, "uncertain") || got.Remedy() != "" {
			t.Errorf("%s is read as %q with the remedy %q", stored, got.Error(), got.Remedy())
		}
	}
	f := &notification.Failure{Code: "45009", Reason: reason.ReceiverBusy(reason.Unexplained("api freq out of limit"))}
	read := roundTrip(notification.Journal{Failure: f}).Failure
	if !read.Because().Same(f.Because()) || read.Error() != "45009: api freq out of limit" || !strings.HasPrefix(read.Remedy(), "gpupool retries later.") {
		t.Errorf("read %q with the remedy %q", read.Error(), read.Remedy())
	}
}

// TestIntervalsAreTheLimitsOfReceivers, as they publish them for a minute.
func TestIntervalsAreTheLimitsOfReceivers(t *testing.T) {
	t.Parallel()
	for _, of := range notification.Types() {
		inMinute := map[notification.Type]int{
			notification.WeCom: 20, notification.DingTalk: 20, notification.Feishu: 100, notification.Slack: 60, notification.Teams: 240,
		}[of]
		want := time.Duration(0)
		if inMinute > 0 {
			want = time.Minute / time.Duration(inMinute)
		}
		if got := of.Interval(); got != want {
			t.Errorf("%s: %s between messages, want %s", of, got, want)
		}
	}
	if n := len(notification.Types()); n != 8 {
		t.Errorf("%d types, want 8", n)
	}
}
