package node_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

var noticeNow = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

// TestANoticeIsInChinaTime: also across midnight, and nothing but a time that can be.
func TestANoticeIsInChinaTime(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]time.Time{
		"2026-11-22 18:02:00":     noticeNow.Add(2 * time.Minute),
		"2026-11-22 18:02:00\n":   noticeNow.Add(2 * time.Minute),
		"  2026-11-22 17:56:00  ": noticeNow.Add(-4 * time.Minute),
	} {
		if got, err := node.ParseNotice(body, noticeNow); err != nil || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%q is %v (%v), not %v", body, got, err, want)
		}
	}
	midnight := time.Date(2026, 11, 22, 15, 59, 0, 0, time.UTC)
	if got, err := node.ParseNotice("2026-11-23 00:00:30", midnight); err != nil || !got.Equal(midnight.Add(90*time.Second)) {
		t.Errorf("across midnight: %v (%v)", got, err)
	}
	for body, says := range map[string]string{
		"":                                    "is not like",
		"<html><body>login</body></html>":     "is not like",
		"2026-11-22T18:02:00+08:00":           "is not like",
		"2026-02-30 18:02:00":                 "is not like",
		"2026-11-22 10:02:00":                 "check the clock", // UTC, taken for UTC+8
		"2026-11-22 23:00:00":                 "check the clock",
		"2018-08-18 12:05:33":                 "check the clock",
		"2026-11-22 18:02:00" + "\x00garbage": "is not like",
	} {
		if got, err := node.ParseNotice(body, noticeNow); err == nil || !strings.Contains(err.Error(), says) || !got.IsZero() {
			t.Errorf("%q is %v (%v), not an error that says %s", body, got, err, says)
		}
	}
}

// TestANoticeIsReadAsItWasWritten reads no notice from other messages.
func TestANoticeIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	at := noticeNow.Add(2 * time.Minute)
	reach := node.Reach{Pods: 12, Deleted: 5, At: noticeNow.Add(4 * time.Second)}
	for _, notice := range []node.Notice{{At: at}, {At: at, Reach: reach}} {
		if got, ok := node.NoticeIn(notice.String(), noticeNow); !ok || got != notice {
			t.Errorf("%s is read as %+v", notice, got)
		}
		if !regexp.MustCompile(node.NoticePattern).MatchString(notice.String()) {
			t.Errorf("%s does not match", notice)
		}
	}
	for _, message := range []string{
		"", "soon", at.Format(time.RFC3339), node.Notice{At: at}.String() + " or so", node.Notice{At: at}.String() + "; pods deleted by noon: 1 of 2",
		node.Notice{At: at.Add(24 * time.Hour)}.String(), node.Notice{}.String(),
	} {
		if got, ok := node.NoticeIn(message, noticeNow); ok || got != (node.Notice{}) {
			t.Errorf("%q is read as %v", message, got)
		}
	}
	if !regexp.MustCompile(node.NoticePattern).MatchString(node.Notice{At: at.In(time.FixedZone("", 3600))}.String()) {
		t.Errorf("%s does not match", node.Notice{At: at}.String())
	}
	if _, ok := node.NoticeIn(node.Notice{At: at}.String(), time.Time{}); ok {
		t.Error("one that was never written is read")
	}
}
