package budget

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

// grant is one that begins at a time.
func grant(id, hours string, from time.Time, length time.Duration) Grant {
	return Grant{Exception: exception.Exception{ID: id, From: from, Until: from.Add(length), Who: "ann", Why: "night"}, GPUHours: hours}
}

// TestLimitWithGrants expects the declared limit plus all grants at any moment, whatever was dropped or
// released meanwhile. The status says when it last changed.
func TestLimitWithGrants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := teamA()
		d.PublishedAt = noon.Add(-time.Hour)
		var grants Grants
		type span struct {
			from, end time.Time
			amount    int64
		}
		var spans []span
		now := noon
		for n := range rapid.IntRange(0, 12).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 7200).Draw(t, "passed")) * time.Second)
			if rapid.IntRange(0, 4).Draw(t, "release") == 0 {
				grants, _ = grants.Release(d, exception.Release{At: now, Who: "bob"})
				for i := range spans {
					if spans[i].from.Before(now) && now.Before(spans[i].end) {
						spans[i].end = now
					}
				}
				continue
			}
			g := grant(string(rune('a'+n)), rapid.SampledFrom([]string{"0.001", "12.5", "50"}).Draw(t, "hours"), now,
				time.Duration(rapid.IntRange(60, 20000).Draw(t, "seconds"))*time.Second)
			var err error
			if grants, err = grants.Add(d, g, now); err != nil {
				t.Fatal(err)
			}
			spans = append(spans, span{now, g.Until, g.Amount()})
		}
		now = now.Add(time.Duration(rapid.IntRange(0, 20000).Draw(t, "later")) * time.Second)
		want, changed := 100*Hour, d.PublishedAt
		for _, s := range spans {
			if now.Before(s.end) {
				want += s.amount
			}
			for _, at := range []time.Time{s.from, s.end} {
				if !at.After(now) && at.After(changed) {
					changed = at
				}
			}
		}
		of := d.Granted(grants, now)
		limit, err := of.Limit()
		if err != nil || limit != want || !of.PublishedAt.Equal(changed) {
			t.Fatalf("limit %s since %s (%v), want %s since %s", Hours(limit), of.PublishedAt, err, Hours(want), changed)
		}
		if err := grants.Validate(); err != nil || d.GPUHours != "100" {
			t.Fatalf("%v; declared %s", err, d.GPUHours)
		}
	})
}

// TestAStatusForgetsGrantsThatEnded lowers the limit that a gate goes by at the end of
// a grant, or its release, without another run.
func TestAStatusForgetsGrantsThatEnded(t *testing.T) {
	t.Parallel()
	s := Status{Usage: Usage{Limit: 160 * Hour, Consumed: 120 * Hour}, Grants: []Grant{grant("a", "50", noon, time.Hour), grant("b", "10", noon, 2*time.Hour)}}
	for after, want := range map[time.Duration]int64{0: 160, time.Hour: 110, 2 * time.Hour: 100} {
		of, ended := s.LimitedAt(Grants{List: s.Grants}, noon.Add(after))
		if of.Usage.Limit != want*Hour || of.Usage.Exceeded() != (want <= 120) || len(of.Grants)+len(ended) != 2 {
			t.Errorf("after %s the limit is %s, without %v", after, Hours(of.Usage.Limit), ended)
		}
	}
	of, ended := s.LimitedAt(Grants{List: s.Grants[1:]}, noon)
	if of.Usage.Limit != 110*Hour || len(of.Grants) != 1 || len(ended) != 1 || ended[0].ID != "a" {
		t.Errorf("after a release the limit is %s, without %v", Hours(of.Usage.Limit), ended)
	}
}

func TestBadGrantsAreRefused(t *testing.T) {
	t.Parallel()
	for want, g := range map[string]Grant{
		"invalid number":  grant("a", "-5", noon, time.Hour),
		"are none":        grant("a", "0", noon, time.Hour),
		"would be above ": grant("a", "999999999", noon, time.Hour),
	} {
		if _, err := (Grants{}).Add(teamA(), g, noon); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", g.GPUHours, err, want)
		}
	}
	var full Grants
	for range MaxGrants {
		full.List = append(full.List, grant("a", "1", noon, time.Hour))
	}
	if _, err := full.Add(teamA(), grant("b", "1", noon, time.Hour), noon); err == nil {
		t.Error("grants are not limited in number")
	}
}

// TestGrantsAreReportedUntilTheHistoryHasThem keeps each begin and end until it is in the history, with the
// same ids at each attempt.
func TestGrantsAreReportedUntilTheHistoryHasThem(t *testing.T) {
	t.Parallel()
	d, g := teamA(), Grants{}
	for _, length := range []time.Duration{time.Hour, 2 * time.Hour} {
		var err error
		if g, err = g.Add(d, grant(length.String(), "50", noon, length), noon); err != nil {
			t.Fatal(err)
		}
	}
	later := noon.Add(time.Hour)
	first, again := g.Events(d, later), g.Events(d, later)
	if len(first) != 3 || first[2].ID != again[2].ID || first[2].Kind != history.Release {
		t.Errorf("told %+v, then %+v", first, again)
	}
	none := g.WithoutReported(d, later, func(history.Event) bool { return false })
	if events := none.Events(d, later); len(none.List) != 1 || len(events) != 3 || events[2].ID != first[2].ID {
		t.Errorf("nothing was told, and %+v are left", none)
	}
	all := none.WithoutReported(d, later, func(history.Event) bool { return true })
	if len(all.List) != 1 || len(all.Unreported) > 0 || !all.EndedAt.Equal(later) {
		t.Errorf("all was told, and %+v is left", all)
	}
	released, which := all.Release(d, exception.Release{At: later.Add(time.Minute), Who: "bob", Why: "done early"})
	if events := released.Events(d, later.Add(time.Hour)); len(which) != 1 || len(released.List) > 0 || len(events) != 1 || events[0].Actor != "bob" {
		t.Errorf("released %+v, told %+v", which, events)
	}
}

// TestGrantsKeepTheNewestToBeTold bounds what a document keeps where no history can be
// written.
func TestGrantsKeepTheNewestToBeTold(t *testing.T) {
	t.Parallel()
	d, g := teamA(), Grants{}
	for n := range history.UnreportedAtMost {
		now := noon.Add(time.Duration(n) * time.Minute)
		var err error
		if g, err = g.Add(d, grant(fmt.Sprint(n), "1", now, time.Hour), now); err != nil {
			t.Fatal(err)
		}
		g, _ = g.Release(d, exception.Release{At: now.Add(time.Second), Who: "bob"})
	}
	if len(g.Unreported) != history.UnreportedAtMost || g.Unreported[len(g.Unreported)-1].Kind != history.Release {
		t.Errorf("%d events are kept", len(g.Unreported))
	}
}
