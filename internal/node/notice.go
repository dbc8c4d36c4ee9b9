package node

import (
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
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

// Notice is an interruption notice, as the condition of a node has it. The zero value is none.
type Notice struct {
	At    time.Time // when Tencent Cloud reclaims the instance
	Reach Reach     // zero until the agent deletes pods
}

// Reach is how many of a node's pods have a deletion before its instance is reclaimed. The zero value
// is not known.
type Reach struct {
	// The pods that the reclaim would end.
	Pods int `json:"pods"`
	// Those of them that are deleted.
	Deleted int `json:"deleted"`
	// When that was so.
	At time.Time `json:"at"`
}

const (
	// noticeText precedes the time in the message of a node's condition, and reachText what the agent reached.
	noticeText = "Tencent Cloud reclaims the instance at "
	reachText  = "pods deleted by "
	instants   = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"
)

// NoticePattern matches the text of a Notice, for admission policies.
const NoticePattern = "^" + noticeText + instants + "(; " + reachText + instants + ": [0-9]+ of [0-9]+)?$"

// String is the message of a node's condition.
func (n Notice) String() string {
	text := noticeText + n.At.UTC().Format(time.RFC3339)
	if !n.Reach.At.IsZero() {
		text += "; " + n.Reach.String()
	}
	return text
}

// Reason returns what it reached.
func (r Reach) Reason() reason.Reason {
	return reason.PodsReached(reason.Instant{Time: r.At}, reason.Count(r.Deleted), reason.Count(r.Pods))
}

func (r Reach) String() string {
	return fmt.Sprintf("%s%s: %d of %d", reachText, r.At.UTC().Format(time.RFC3339), r.Deleted, r.Pods)
}

// NoticeIn reads the text of a Notice that was written at a time. An unreadable text, or an impossible
// time, is not a notice.
func NoticeIn(message string, written time.Time) (n Notice, ok bool) {
	text, found := strings.CutPrefix(message, noticeText)
	when, reach, reached := strings.Cut(text, "; ")
	at, err := time.Parse(time.RFC3339, when)
	if !found || err != nil || !plausible(at, written) {
		return Notice{}, false
	}
	n.At = at.UTC()
	if reached && !n.Reach.read(reach) {
		return Notice{}, false
	}
	return n, true
}

// read takes the text of a Reach apart, and reports whether it is one.
func (r *Reach) read(text string) bool {
	var at string
	if _, err := fmt.Sscanf(text, reachText+"%20s: %d of %d", &at, &r.Deleted, &r.Pods); err != nil {
		return false
	}
	var err error
	r.At, err = time.Parse(time.RFC3339, at)
	return err == nil && text == r.String()
}
