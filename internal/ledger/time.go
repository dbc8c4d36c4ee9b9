package ledger

import "time"

// Time is a moment in milliseconds since 1970 in UTC; zero is none.
type Time int64

// TimeOf is a moment in the ledger's milliseconds; none of the zero time.
func TimeOf(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.UnixMilli())
}

// Time is the moment in UTC; the zero time of none.
func (t Time) Time() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(t)).UTC()
}
