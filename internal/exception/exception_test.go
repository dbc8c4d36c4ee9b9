package exception_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestBadRequestsAreRefused(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]exception.Request{
		"at least 1m":         {Who: "ann", Why: "night"},
		"at most 30d":         {For: 31 * 24 * time.Hour, Who: "ann", Why: "night"},
		"no who":              {For: time.Hour, Why: "night"},
		"no reason":           {For: time.Hour, Who: "ann", Why: " "},
		"one line of text":    {For: time.Hour, Who: "ann", Why: "a\x1b[2Jb"},
		"longer than 1000":    {For: time.Hour, Who: "ann", Why: strings.Repeat("x", 1001)},
		"who is longer than ": {For: time.Hour, Who: strings.Repeat("x", 300), Why: "night"},
	} {
		if _, err := r.Begin("id", noon); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", r, err, want)
		}
	}
}

// TestAnExceptionEndsOnce has it in force up to its end, and never again afterwards;
// also by a clock that is behind, before its beginning.
func TestAnExceptionEndsOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		length := time.Duration(rapid.IntRange(60, 30*24*3600).Draw(t, "seconds")) * time.Second
		e, err := exception.Request{For: length, Who: "ann", Why: "night"}.Begin("id", noon)
		if err != nil {
			t.Fatal(err)
		}
		if end := noon.Add(length); e.InForce(end) || !e.InForce(end.Add(-time.Second)) || !e.InForce(noon.Add(-time.Minute)) {
			t.Fatalf("%+v does not end at %s", e, end)
		}
	})
}

// TestAnEndIsToldOnce: a release and an expiry may be noticed at once, and have one event ID.
func TestAnEndIsToldOnce(t *testing.T) {
	t.Parallel()
	e, err := exception.Request{For: time.Hour, Who: "ann", Why: "night"}.Begin("id", noon)
	if err != nil {
		t.Fatal(err)
	}
	of := history.About{Object: "budget/team-a", ObjectUID: "u"}
	ended := e.Ended(of, reason.HoldEnds("ann"))
	released := e.Released(of, exception.Release{At: noon.Add(59 * time.Minute), Who: "bob", Why: "done"}, reason.HoldEndsEarly("ann"))
	if ended.ID != released.ID || ended.Actor != "" || released.Actor != "bob" {
		t.Errorf("ended %+v, released %+v", ended, released)
	}
	if want := []string{"the hold by ann ends early", "done"}; !slices.Equal(released.Reasons.Texts(), want) {
		t.Errorf("released because of %q, want %q", released.Reasons, want)
	}
	if want := []string{"the hold by ann ends", "night"}; !slices.Equal(ended.Reasons.Texts(), want) || !ended.At.Equal(noon.Add(time.Hour)) {
		t.Errorf("ended at %s because of %q, want %q", ended.At, ended.Reasons, want)
	}
}
