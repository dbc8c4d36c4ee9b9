package notification

import (
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"time"
)

// Interval returns the least time between two messages to one receiver, by its published limit.
// WeCom and DingTalk allow 20 a minute, Feishu 100 a minute, Slack 1 a second, and Teams 4 a second.
func (t Type) Interval() time.Duration {
	switch t {
	case WeCom, DingTalk:
		return 3 * time.Second
	case Feishu:
		return 600 * time.Millisecond
	case Slack:
		return time.Second
	case Teams:
		return 250 * time.Millisecond
	}
	return 0
}

// The pauses between attempts. A message is tried until it is delivered.
const (
	firstRetry = 30 * time.Second
	lastRetry  = time.Hour
	// longestPause is the longest that a receiver asks for. Longer ones are of a clock that was ahead.
	longestPause = 25 * time.Hour
	// refreshEvery is the least time until alerts are repeated.
	refreshEvery = 10 * time.Second
)

// Schedule says when messages of one notification may be sent.
type Schedule struct {
	Declaration Declaration
	Zone        *time.Location
	// Lifetime is how long an alert of a lasting condition fires without another message.
	Lifetime time.Duration
	// Present is what the run found about lasting conditions. Alerts are repeated with it.
	Present Present
}

// Next returns the message to send at a moment, if any. An attempt of it has to be recorded before,
// unless it only repeats conditions (see Message.Refresh).
func (s Schedule) Next(j Journal, now time.Time) (m Message, ok bool) {
	d := s.Declaration
	if pause := j.NextAt.Sub(now); pause > 0 && pause <= longestPause && d.Generation == j.Generation {
		return m, false
	}
	m = Message{Notification: d.Name, Attempted: now, Zone: s.Zone, PageURL: d.PageURL, Lifetime: s.Lifetime}
	if j.Sending != nil {
		m.ID = j.Sending.ID
		m.Repeated = !j.Sending.Refused && !d.Type.Idempotent()
		for _, l := range j.Pending {
			if j.sends(l.ID) {
				m.Lines = append(m.Lines, l)
			}
		}
	} else {
		m.Lines = s.due(j, now)
		ids := []string{j.UID}
		for _, l := range m.Lines {
			ids = append(ids, l.ID)
		}
		m.ID = hashOf(ids...)
	}
	if len(m.Lines) > 0 { // else it reports nothing, and only repeats
		m.LeftOut = j.LeftOut
	}
	if d.Type == Alertmanager && now.Sub(j.DeliveredAt).Abs() >= refreshEvery { // which forgets alerts that are not repeated
		m.Open = s.repeats(j, m.Lines, now.Add(-s.Lifetime))
	}
	return m, len(m.Lines)+len(m.Open) > 0
}

// Refresh reports that the message only repeats conditions.
func (m Message) Refresh() bool { return len(m.Lines) == 0 && len(m.Open) > 0 }

// linesAtMost bounds the lines of a message. If each is a request, the failure of one repeats them all.
func (t Type) linesAtMost() int {
	if t == Webhook || t == PagerDuty {
		return 10
	}
	return 40
}

// due are the lines that may be sent now.
func (s Schedule) due(j Journal, now time.Time) []Line {
	d := s.Declaration
	lines := slices.Clone(j.Pending)
	if s.quiet(now) {
		lines = slices.DeleteFunc(lines, func(l Line) bool { return l.Severity != Critical && !(d.Type.Alerts() && j.resolves(l)) })
	}
	if len(lines) == 0 || crowded(d.Type, d.UID, now) {
		return nil
	}
	oldest := slices.MinFunc(lines, func(a, b Line) int { return a.ClaimedAt.Compare(b.ClaimedAt) })
	if age := now.Sub(oldest.ClaimedAt); age >= 0 && age < lengthOf(d.Digest) {
		return nil
	}
	return lines[:min(len(lines), d.Type.linesAtMost())]
}

// crowded reports that Feishu is likely to refuse messages: its documentation advises against full
// and half hours, when many send. Each notification has its own second after them.
func crowded(t Type, uid string, now time.Time) bool {
	if t != Feishu || now.Minute()%30 > 0 {
		return false
	}
	return now.Second() < 10+int(jitter(uid)*45)
}

// repeats returns the lasting conditions, and those that ended since a time. Alertmanager ignores an
// end that is later than its own clock, so the end is repeated, too.
func (s Schedule) repeats(j Journal, except []Line, endedSince time.Time) []Line {
	var lines []Line
	for _, of := range slices.Sorted(maps.Keys(j.Conditions)) {
		c := j.Conditions[of]
		if slices.ContainsFunc(except, func(l Line) bool { return l.Condition == of }) || j.waits(of) {
			continue
		}
		switch l := c.Line; {
		case c.open():
			lines = append(lines, s.Present.update(l, s.Zone))
		case c.ResolvedAt.After(endedSince):
			l.At, l.Resolved = c.ResolvedAt, true
			lines = append(lines, l)
		}
	}
	return lines
}

// resolves reports whether a line ends an alert that fires at the receiver.
func (j Journal) resolves(l Line) bool {
	return l.Resolved && !slices.ContainsFunc(j.Pending, func(begins Line) bool { return begins.Condition == l.Condition && !begins.Resolved })
}

// waits reports whether an event of a condition waits for its message.
func (j Journal) waits(of string) bool {
	return slices.ContainsFunc(j.Pending, func(l Line) bool { return l.Condition == of })
}

// Attempt returns the journal of a message that is about to be sent.
func (j Journal) Attempt(d Declaration, m Message) Journal {
	ids := make([]string, len(m.Lines))
	for n, l := range m.Lines {
		ids[n] = l.ID
	}
	j.Sending, j.Generation = &Sending{ID: m.ID, Lines: ids, AttemptedAt: m.Attempted}, d.Generation
	j.Attempts++
	return j
}

// Succeed returns the journal after a delivery.
func (j Journal) Succeed(m Message, now time.Time) Journal {
	j.FailingSince, j.Attempts, j.NextAt, j.Failure = time.Time{}, 0, time.Time{}, nil
	if m.Refresh() {
		return j
	}
	j.Pending = slices.DeleteFunc(slices.Clone(j.Pending), func(l Line) bool { return j.sends(l.ID) })
	j.LeftOut = max(0, j.LeftOut-m.LeftOut)
	j.Sending, j.DeliveredAt = nil, now
	j.Delivered++
	return j
}

// Fail returns the journal after a failed attempt.
func (j Journal) Fail(m Message, f Failure, now time.Time) Journal {
	if j.FailingSince.IsZero() {
		j.FailingSince = now
	}
	j.Failure = &f
	j.Failed++
	if m.Refresh() {
		j.Attempts++
	} else {
		sending := *j.Sending
		sending.Refused = !f.Uncertain && !m.Repeated // an earlier attempt may have arrived
		j.Sending = &sending
	}
	pause := min(lastRetry, firstRetry<<min(max(0, j.Attempts-1), 7))
	pause += time.Duration(jitter(j.UID, now.UTC().Format(time.RFC3339)) * 0.2 * float64(pause))
	j.NextAt = now.Add(max(pause, f.RetryAfter))
	return j
}

// jitter returns a number from 0 to 1 that depends on the parts.
func jitter(parts ...string) float64 {
	data, err := hex.DecodeString(hashOf(parts...))
	if err != nil {
		panic(err) // hashOf returns hexadecimal digits
	}
	return float64(binary.BigEndian.Uint32(data)) / (1 << 32)
}

// quiet reports whether a moment is in the quiet hours.
func (s Schedule) quiet(now time.Time) bool {
	q := s.Declaration.QuietHours
	if q == nil {
		return false
	}
	start, end := minuteOf(q.Start), minuteOf(q.End)
	at := now.In(zoneOr(s.Zone))
	minute := at.Hour()*60 + at.Minute()
	if start < end {
		return minute >= start && minute < end
	}
	return minute >= start || minute < end
}
