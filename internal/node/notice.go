package node

import (
	"fmt"
	"strings"
	"time"
)

// NoticeAhead is how long before an interruption Tencent Cloud announces it (Tencent CVM, spot instances,
// querying the reclaim status).
const NoticeAhead = 2 * time.Minute

var noticeZone = time.FixedZone("UTC+8", 8*60*60)

// ParseNotice reads the response of the metadata service's spot/termination-time, which
// is in UTC+8 ("2018-08-18 12:05:33"). A time that is over or
// hours ahead is an error: nothing is drained because of it.
func ParseNotice(body string, now time.Time) (time.Time, error) {
	text := strings.TrimSpace(body)
	at, err := time.ParseInLocation(time.DateTime, text, noticeZone)
	if err != nil {
		return time.Time{}, fmt.Errorf("invalid time of the interruption in the response of the metadata service: %.40q is not like "+
			"\"2018-08-18 12:05:33\"", text)
	}
	if !plausible(at, now) {
		return time.Time{}, fmt.Errorf("invalid time of the interruption in the response of the metadata service: %s, and it is %s now. "+
			"A notice comes %v ahead; check the clock", at.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339), NoticeAhead)
	}
	return at.UTC(), nil
}

// plausible reports whether a notice that is given now can be for that time.
func plausible(at, now time.Time) bool {
	return !at.Before(now.Add(-NoticeSlack)) && !at.After(now.Add(NoticeAhead+NoticeSlack))
}

// noticeText precedes the time in the message of a node's condition.
const noticeText = "Tencent Cloud reclaims the instance at "

// NoticePattern matches a NoticeMessage, for admission policies.
const NoticePattern = "^" + noticeText + "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"

// NoticeMessage is the message of a node's condition with the time of the interruption.
func NoticeMessage(at time.Time) string { return noticeText + at.UTC().Format(time.RFC3339) }

// NoticeIn reads a NoticeMessage that was written at a time. An unreadable message, or an impossible
// time, is not a notice.
func NoticeIn(message string, written time.Time) (at time.Time, ok bool) {
	text, found := strings.CutPrefix(message, noticeText)
	at, err := time.Parse(time.RFC3339, text)
	if !found || err != nil || !plausible(at, written) {
		return time.Time{}, false
	}
	return at.UTC(), true
}
