package ledger

import "time"

// Time is a moment in milliseconds since 1970 in UTC; zero is none.
type Time int64

// TimeOf converts a time; the zero time becomes none.
func TimeOf(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.UnixMilli())
}

// Time converts to a time in UTC; none becomes the zero time.
func (t Time) Time() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(t)).UTC()
}
