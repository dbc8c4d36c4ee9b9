package node

import (
	"fmt"
	"strings"
	"time"
)

// NoticeAhead is how long before it takes an instance the cloud says so (Tencent CVM, spot
// instances, querying the reclaim status).
const NoticeAhead = 2 * time.Minute

var noticeZone = time.FixedZone("UTC+8", 8*60*60)

// ParseNotice reads the answer of the metadata service's spot/termination-time, which
// is in UTC+8 ("2018-08-18 12:05:33"). A time that can't be, as one that is over or is
// hours away, is an error: nothing is drained on it.
func ParseNotice(body string, now time.Time) (time.Time, error) {
	text := strings.TrimSpace(body)
	at, err := time.ParseInLocation(time.DateTime, text, noticeZone)
	if err != nil {
		return time.Time{}, fmt.Errorf("the metadata service answers %.40q for the time at which the instance is taken back: it should be like "+
			"\"2018-08-18 12:05:33\"", text)
	}
	if !canBe(at, now) {
		return time.Time{}, fmt.Errorf("the metadata service says that the instance is taken back at %s, and it is %s now: a notice comes %v ahead; "+
			"check the clock", at.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339), NoticeAhead)
	}
	return at.UTC(), nil
}

// canBe reports whether a notice that is given now can be for that time.
func canBe(at, now time.Time) bool {
	return !at.Before(now.Add(-NoticeSlack)) && !at.After(now.Add(NoticeAhead+NoticeSlack))
}

// noticeText is what stands before the time in a node's condition.
const noticeText = "The cloud takes the instance back at "

// NoticePattern is what a NoticeMessage matches, for those that can't read one.
const NoticePattern = "^" + noticeText + "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"

// NoticeMessage is the message of a node's condition that says when its instance is
// taken back.
func NoticeMessage(at time.Time) string { return noticeText + at.UTC().Format(time.RFC3339) }

// NoticeIn reads a NoticeMessage that was written at a time. What can't be read, or can't
// be, is no notice.
func NoticeIn(message string, written time.Time) (at time.Time, ok bool) {
	text, found := strings.CutPrefix(message, noticeText)
	at, err := time.Parse(time.RFC3339, text)
	if !found || err != nil || !canBe(at, written) {
		return time.Time{}, false
	}
	return at.UTC(), true
}
