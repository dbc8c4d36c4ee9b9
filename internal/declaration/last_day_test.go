package declaration_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
)

const quarter = 15 * time.Minute

func pool(capacity int64) []declaration.Size {
	return []declaration.Size{{Object: "spot_pool/r/a", Value: capacity, Of: 2}}
}

// A day is written where a quarter hour began and something changed since.
func TestADayIsWrittenSeldom(t *testing.T) {
	t.Parallel()
	var day declaration.LastDay
	for _, step := range []struct {
		after    time.Duration
		capacity int64
		written  bool
	}{
		{0, 2, true}, {time.Minute, 1, false}, {quarter, 2, false}, {quarter + time.Minute, 1, true}, {quarter + 2*time.Minute, 0, false},
		{2 * quarter, 0, true}, {3 * quarter, 0, false},
	} {
		next, changed := day.After(noon.Add(step.after), pool(step.capacity), none)
		if changed != step.written {
			t.Errorf("after %s with %d: written is %t", step.after, step.capacity, changed)
		}
		day = next
	}
	values, of := day.Of("spot_pool/r/a", noon.Add(4*quarter))
	if want := []float64{2, 1, 0, 0, 0}; !slices.Equal(values, want) || !slices.Equal(of, []float64{2, 2, 2, 2, 2}) {
		t.Errorf("the values are %v of %v, want %v", values, of, want)
	}
	if next, changed := day.After(noon.Add(5*quarter), nil, none); !changed || len(next.Series) != 0 {
		t.Errorf("what is gone is kept: %v", next.Series)
	}
	if next, changed := day.After(noon.Add(5*quarter), nil, func(string) bool { return true }); changed || len(next.Series) != 1 {
		t.Errorf("what could not be seen is not kept: %v", next.Series)
	}
}

// Whatever changes, and however long, a day takes no more than a store can keep.
func TestADayIsBounded(t *testing.T) {
	t.Parallel()
	var day declaration.LastDay
	for n := range int64(300) {
		sizes := make([]declaration.Size, 600)
		for m := range sizes {
			sizes[m] = declaration.Size{Object: fmt.Sprintf("spot_pool/ap-singapore/%030d", m), Value: n % 100, Of: 100}
		}
		day, _ = day.After(noon.Add(time.Duration(n)*quarter), sizes, none)
	}
	if size := len(encode(t, day)); size > 900<<10 {
		t.Errorf("a day takes %d bytes", size)
	}
	values, _ := day.Of(fmt.Sprintf("spot_pool/ap-singapore/%030d", 0), noon.Add(299*quarter))
	if len(values) != 96 || values[95] != 99 || values[0] != 4 {
		t.Errorf("%d values, from %v to %v", len(values), values[0], values[len(values)-1])
	}
}

func TestADayOutOfOrderIsRefused(t *testing.T) {
	t.Parallel()
	for _, steps := range []declaration.Series{{}, {{8, 1, 1}}, {{7, 1, 1}, {6, 1, 1}}} {
		if _, err := declaration.Encode(declaration.LastDay{Quarter: 7, Series: map[string]declaration.Series{"budget/a": steps}}); err == nil {
			t.Errorf("%v is taken", steps)
		}
	}
}
