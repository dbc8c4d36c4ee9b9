package declaration

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// LastDay is how large pools and how used budgets were over the last day, quarter
// hour by quarter hour.
type LastDay struct {
	// Quarter is the quarter hour in which it was last written.
	Quarter int64             `json:"quarter"`
	Series  map[string]Series `json:"series"` // by object
}

// Series are the changes of one object. In JSON they are one text, such as
// "1975423=2/2 1975431=1/2", since a document has a bound.
type Series []Step

// MarshalText writes the changes.
func (s Series) MarshalText() ([]byte, error) {
	var text []byte
	for n, step := range s {
		if n > 0 {
			text = append(text, ' ')
		}
		text = fmt.Appendf(text, "%d=%d/%d", step[0], step[1], step[2])
	}
	return text, nil
}

// UnmarshalText reads what MarshalText writes.
func (s *Series) UnmarshalText(text []byte) error {
	*s = nil
	for field := range strings.FieldsSeq(string(text)) {
		var step Step
		at, rest, _ := strings.Cut(field, "=")
		value, of, _ := strings.Cut(rest, "/")
		for n, number := range []string{at, value, of} {
			var err error
			if step[n], err = strconv.ParseInt(number, 10, 64); err != nil {
				return fmt.Errorf("invalid step %q: use a form such as 1975423=2/2", field)
			}
		}
		*s = append(*s, step)
	}
	return nil
}

// Step is a change: the quarter hour since which a value and its reference apply. For a pool,
// that is its capacity and its minimum, and for a budget its usage and its limit, in percent.
// Quarter hours are counted from 1970.
type Step [3]int64

// The bounds of a day: its quarter hours, and the objects that are kept.
const (
	quarter     = 15 * time.Minute
	quarters    = int64(24 * time.Hour / quarter)
	seriesAtMax = 400
)

// Size is what an object is now.
type Size struct {
	Object    string
	Value, Of int64
}

func quarterOf(at time.Time) int64 { return at.Unix() / int64(quarter/time.Second) }

// After returns the day after these sizes were observed. It is unchanged within a quarter hour,
// or if nothing changed. kept decides whether objects that were not observed stay. Of too many,
// the first by name are kept.
func (d LastDay) After(at time.Time, seen []Size, kept func(object string) bool) (next LastDay, changed bool) {
	now := quarterOf(at)
	if now <= d.Quarter && d.Quarter != 0 {
		return d, false
	}
	slices.SortFunc(seen, func(a, b Size) int { return strings.Compare(a.Object, b.Object) })
	next = LastDay{Quarter: now, Series: make(map[string]Series, len(seen))}
	for object, steps := range d.Series {
		if kept(object) {
			next.Series[object] = steps
		}
	}
	seen = seen[:min(len(seen), max(0, seriesAtMax-len(next.Series)))]
	for _, s := range seen {
		steps := d.Series[s.Object]
		if last := len(steps) - 1; last < 0 || steps[last][1] != s.Value || steps[last][2] != s.Of {
			steps, changed = append(slices.Clone(steps), Step{now, s.Value, s.Of}), true
		}
		for len(steps) > 1 && steps[1][0] <= now-quarters {
			steps = steps[1:]
		}
		next.Series[s.Object] = steps
	}
	if !changed && len(next.Series) == len(d.Series) {
		return d, false
	}
	return next, true
}

// For returns the day of the objects that a reader may see.
func (d LastDay) For(reader reason.Renderer) LastDay {
	seen := LastDay{Quarter: d.Quarter, Series: maps.Clone(d.Series)}
	maps.DeleteFunc(seen.Series, func(object string, _ Series) bool { return !reader.SeesObject(reason.Object(object)) })
	return seen
}

// Of returns the values of an object and their references, one for each quarter hour until now.
// It returns fewer than a day's if fewer are known.
func (d LastDay) Of(object string, now time.Time) (values, of []float64) {
	steps := d.Series[object]
	if len(steps) == 0 {
		return nil, nil
	}
	until := quarterOf(now)
	at := 0
	for q := max(until-quarters+1, steps[0][0]); q <= until; q++ {
		for at+1 < len(steps) && steps[at+1][0] <= q {
			at++
		}
		values, of = append(values, float64(steps[at][1])), append(of, float64(steps[at][2]))
	}
	return values, of
}

// validateLastDay checks that the steps of each object follow each other.
func validateLastDay(d LastDay) error {
	for object, steps := range d.Series {
		if object == "" || len(steps) == 0 || !slices.IsSortedFunc(steps, func(a, b Step) int { return cmp.Compare(a[0], b[0]) }) ||
			steps[len(steps)-1][0] > d.Quarter {
			return fmt.Errorf("the quarter hours of %q are not in order", object)
		}
	}
	return nil
}
