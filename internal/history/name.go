package history

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Day is a day in UTC, as in "2026-11-20".
type Day string

const (
	dayForm   = "2006-01-02"
	extension = ".parquet"
	headName  = "head-"
)

// DayOf returns the day of a moment.
func DayOf(at time.Time) Day { return Day(at.UTC().Format(dayForm)) }

// Begin returns when the day begins; the zero time for an invalid day.
func (d Day) Begin() time.Time {
	at, err := time.Parse(dayForm, string(d))
	if err != nil {
		return time.Time{}
	}
	return at
}

// Next returns the day after.
func (d Day) Next() Day { return DayOf(d.Begin().AddDate(0, 0, 1)) }

// HeadName returns the name of a day's head: "2026-11-20/head-1.parquet". There are more heads if
// the first could not be read when events were added.
func (d Day) HeadName(number int) string {
	return fmt.Sprintf("%s/%s%d%s", d, headName, number, extension)
}

func (d Day) segmentName(events []Event) string {
	h := sha256.New()
	for n := range events {
		_, _ = h.Write([]byte(events[n].ID + milli(events[n].At))) // never fails
	}
	return string(d) + "/" + hex.EncodeToString(h.Sum(nil)[:8]) + extension
}

// ParseName parses the name of a document: its day, and the number of the head; 0 for a segment.
func ParseName(name string) (d Day, head int, ok bool) {
	day, base, split := strings.Cut(strings.TrimSuffix(name, extension), "/")
	d = Day(day)
	if !split || d.Begin().IsZero() || base == "" {
		return "", 0, false
	}
	number, isHead := strings.CutPrefix(base, headName)
	if !isHead {
		return d, 0, true
	}
	head, err := strconv.Atoi(number)
	return d, head, err == nil && head > 0 && d.HeadName(head) == name
}
