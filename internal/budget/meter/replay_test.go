package meter

import (
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// TestReplay has cases that can be computed by hand: intervals as [GPUs, began, ended] in hours before noon.
// An end below zero means none.
func TestReplay(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name          string
		limit, window string
		period        budget.Period
		intervals     [][3]float64
		from          float64
		want          string
	}{
		{"never", "10", "24h", "", [][3]float64{{1, 5, 1}}, 10,
			"50:  80:  100:  exceeded: peak 4 at -1"},
		{"reached, and stays", "4", "24h", "", [][3]float64{{1, 5, -1}}, 10,
			"50: -3 80: -1.8 100: -1 exceeded: -1..now by 1.000, peak 5 at 0 peak 5 at 0"},
		{"slid out, and came back", "2", "4h", "", [][3]float64{{1, 20, 18}, {2, 6, 5}}, 24,
			"50: -19 -5.5 80: -18.4 -5.2 100: -18 -5 exceeded: -18..-16 by 0.000, peak 2 at -18 -5..-2 by 0.000, peak 2 at -5 peak 2 at -18"},
		{"fell by four points", "100", "4h", "", [][3]float64{{24, 40, -1}, {20, 20, 19.5}, {20, 10, 9.5}}, 24,
			"50: before 80: before 100: -19.8 exceeded: -19.8..-15.7 by 104.400, peak 106 at -19.5 -9.8..-5.7 by 104.400, peak 106 at -9.5 peak 106 at -19.5"},
		{"fell by six points", "100", "4h", "", [][3]float64{{23.5, 40, -1}, {20, 20, 19.5}, {20, 10, 9.5}}, 24,
			"50: before 80: before 100: -19.7 -9.7 exceeded: -19.7..-15.8 by 95.650, peak 104 at -19.5 -9.7..-5.8 by 95.650, peak 104 at -9.5 " +
				"peak 104 at -19.5"},
		{"reported again", "10", "4h", "", [][3]float64{{1, 20, 14}, {1.5, 8, 2}, {3, 18, 17}}, 24,
			"50: -17.25 -4.667 80:  100:  exceeded: peak 7 at -16"},
		{"before it began", "2", "4h", "", [][3]float64{{1, 20, -1}}, 10,
			"50: before 80: before 100: before exceeded: -10..now by 10.000, peak 4 at -10 peak 4 at -10"},
		{"by the day", "10", "", budget.Day, [][3]float64{{1, 70, -1}}, 70,
			"50: -65 -55 -31 -7 80: -62 -52 -28 -4 100: -50 -26 -2 exceeded: -50..-36 by 14.000, peak 24 at -36 -26..-12 by 14.000, peak 24 at -12 -2..now " +
				"by 2.000, peak 12 at 0 peak 24 at -36"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := teamA()
			d.GPUHours, d.Window, d.Period = test.limit, test.window, test.period
			records := podsOf(test.intervals)
			r, err := Replay(d, of(records...), noon.Add(-hours(test.from)), noon, time.LoadLocation)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, replayText(r)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// replayText writes what was replayed on one line, times in hours from noon.
func replayText(r Replayed) string {
	at := func(t time.Time) string { return fmt.Sprintf("%.4g", t.Sub(noon).Hours()) }
	text := ""
	for _, threshold := range r.Thresholds {
		text += fmt.Sprintf("%d:", threshold.Percent)
		if threshold.Before {
			text += " before"
		}
		if len(threshold.ReachedAt) == 0 && !threshold.Before {
			text += " "
		}
		for _, reached := range threshold.ReachedAt {
			text += " " + at(reached)
		}
		text += " "
	}
	text += "exceeded:"
	for _, e := range r.Exceeded {
		until := "now"
		if !e.Until.IsZero() {
			until = at(e.Until)
		}
		text += fmt.Sprintf(" %s..%s by %s, peak %.4g at %s", at(e.Since), until, budget.Hours(e.ByNamespace["ml"]),
			float64(e.Peak)/float64(budget.Hour), at(e.PeakAt))
	}
	return text + fmt.Sprintf(" peak %.4g at %s", float64(r.Peak)/float64(budget.Hour), at(r.PeakAt))
}

// slow judges a budget at single moments, the slow and simple way.
type slow struct {
	d       budget.Declaration
	records []*ledger.Record
}

func (s slow) begin(at time.Time) ledger.Time {
	w, err := s.d.WindowAt(at, time.LoadLocation)
	if err != nil {
		panic(err)
	}
	return ms(w.Start)
}

func (s slow) meter() *Meter {
	m, err := New(s.d, noon, nil, time.LoadLocation)
	if err != nil {
		panic(err)
	}
	return m
}

func (s slow) used(at time.Time) *big.Rat {
	return usedBetween(s.meter(), of(s.records...), noon, s.begin(at), ms(at))
}

// borders are the moments at which the rate of use may change, and each tenth minute.
func (s slow) borders(from time.Time) []time.Time {
	list := []time.Time{from, noon}
	length := time.Duration(0)
	if s.d.Window != "" {
		length, _ = budget.ParseWindow(s.d.Window)
	}
	add := func(at ledger.Time) {
		for _, t := range []time.Time{at.Time(), at.Time().Add(length)} {
			if t.After(from) && t.Before(noon) {
				list = append(list, t)
			}
		}
	}
	for _, r := range s.records {
		add(r.Start.At)
		add(r.Runs.At)
		add(r.End.Point(s.meter().rules.vanished))
	}
	for at := from; at.Before(noon); at = at.Add(10 * time.Minute) {
		list = append(list, at)
	}
	if s.d.Period != "" {
		for at := from; at.Before(noon); {
			w, _ := s.d.WindowAt(at, time.LoadLocation)
			at = w.End
			add(ms(at))
			add(ms(at) - 1)
		}
	}
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}

// near reports whether two amounts differ by no more than rounding does.
func near(used, level *big.Rat) bool {
	off := new(big.Rat).Sub(used, level)
	return off.Abs(off).Cmp(big.NewRat(50, 1)) < 0
}

func levelOf(limit int64, percent int) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetInt64(limit), big.NewRat(int64(percent), 100))
}

// TestReplayAgreesWithTheSlowSum at every border of an interval and every ten
// minutes, and just before and at each moment that it names.
func TestReplayAgreesWithTheSlowSum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records := drawRecords(t)
		d := drawBudgets(t)[0]
		d.Thresholds = rapid.SampledFrom([][]int{{50, 80, 100}, {3, 90}, {100, 150, 20}}).Draw(t, "thresholds")
		from := noon.Add(-time.Duration(300-rapid.IntRange(0, 299).Draw(t, "since")) * time.Minute)
		s := slow{d: d, records: records}
		p, err := newReplay(d, of(records...), ms(from), ms(noon), time.LoadLocation)
		if err != nil {
			t.Fatal(err)
		}
		if p.parts == finest {
			return // such awkward weights are not told apart exactly
		}
		p.run(d)
		r := p.result()
		borders := s.borders(from)
		s.checkExceeded(t, r, borders)
		s.checkThresholds(t, r, borders)
		s.checkHolders(t, r)
		s.checkNow(t, r)
	})
}

func (s slow) checkExceeded(t *rapid.T, r Replayed, borders []time.Time) {
	limit := new(big.Rat).SetInt64(r.Limit)
	exceeded := func(at time.Time) bool {
		return slices.ContainsFunc(r.Exceeded, func(e Excess) bool {
			return !at.Before(e.Since) && (e.Until.IsZero() || at.Before(e.Until))
		})
	}
	for _, e := range r.Exceeded {
		borders = append(borders, e.Since)
		if e.Since.After(r.From) {
			borders = append(borders, e.Since.Add(-time.Millisecond))
		}
		if !e.Until.IsZero() {
			borders = append(borders, e.Until, e.Until.Add(-time.Millisecond))
		}
	}
	most := new(big.Rat)
	for _, at := range borders {
		used := s.used(at)
		if got, want := exceeded(at), used.Cmp(limit) >= 0; got != want {
			t.Fatalf("exceeded at %s: %t, want %t (%s of %s)", at, got, want, used.FloatString(1), limit.FloatString(0))
		}
		if used.Cmp(most) > 0 {
			most = used
		}
	}
	// Just before a period's end the slow sum lacks its last millisecond.
	if off := new(big.Rat).Sub(most, new(big.Rat).SetInt64(r.Peak)); off.Abs(off).Cmp(big.NewRat(10_000, 1)) > 0 {
		t.Fatalf("the most was %d, want %s", r.Peak, most.FloatString(1))
	}
}

func (s slow) checkThresholds(t *rapid.T, r Replayed, borders []time.Time) {
	for _, threshold := range r.Thresholds {
		level, rearm := levelOf(r.Limit, threshold.Percent), levelOf(r.Limit, max(0, threshold.Percent-5))
		var told []int // by the number of the border by which it is
		fired := threshold.Before
		for n, at := range borders {
			used := s.used(at)
			if n == 0 {
				continue
			}
			if s.d.Period != "" && s.begin(at) == ms(at) || used.Cmp(rearm) <= 0 {
				fired = false
			}
			if !fired && used.Cmp(level) >= 0 {
				fired = true
				told = append(told, n)
			}
		}
		if len(told) != len(threshold.ReachedAt) {
			t.Fatalf("%d%% is reported at %v, want %d times", threshold.Percent, threshold.ReachedAt, len(told))
		}
		for n, at := range threshold.ReachedAt {
			if border := told[n]; at.After(borders[border]) || !at.After(borders[border-1]) {
				t.Fatalf("%d%% is reported at %s, want between %s and %s", threshold.Percent, at, borders[border-1], borders[border])
			}
			if used := s.used(at); used.Cmp(level) < 0 {
				t.Fatalf("%d%% is reported at %s, at %s", threshold.Percent, at, used.FloatString(1))
			}
			if used := s.used(at.Add(-time.Millisecond)); used.Cmp(level) >= 0 {
				t.Fatalf("%d%% is reported at %s, and was reached before", threshold.Percent, at)
			}
		}
	}
}

func (s slow) checkHolders(t *rapid.T, r Replayed) {
	all := map[string]int64{}
	for _, e := range r.Exceeded {
		until := e.Until
		if until.IsZero() {
			until = noon
		}
		if e.Length != until.Sub(e.Since) {
			t.Fatalf("from %s to %s are %s", e.Since, until, e.Length)
		}
		teams := int64(0)
		for _, amount := range e.ByLabel["team"] {
			teams += amount
		}
		for _, namespace := range []string{"ml", "web", "ops"} {
			among := slices.DeleteFunc(slices.Clone(s.records), func(r *ledger.Record) bool { return r.Set.Namespace != namespace && !r.Allocation.Shared() })
			want := usedBetween(s.meter(), of(among...), noon, ms(e.Since), ms(until))
			if slices.ContainsFunc(among, func(r *ledger.Record) bool { return r.Allocation.Shared() }) {
				teams -= e.ByNamespace[namespace] // who shares claims is not told apart so simply
				continue
			}
			if got := new(big.Rat).SetInt64(e.ByNamespace[namespace]); !near(got, want) {
				t.Fatalf("%s used %s from %s to %s, want %s", namespace, got.FloatString(0), e.Since, until, want.FloatString(1))
			}
			teams -= e.ByNamespace[namespace]
		}
		if teams != 0 {
			t.Fatalf("the breakdowns differ by %d", teams)
		}
		for namespace, amount := range e.ByNamespace {
			all[namespace] += amount
		}
	}
	if len(all)+len(r.ByNamespace) > 0 && !cmp.Equal(all, r.ByNamespace) {
		t.Fatalf("together they are %v, want %v", r.ByNamespace, all)
	}
}

// checkNow holds the replay's end to what a run says of now.
func (s slow) checkNow(t *rapid.T, r Replayed) {
	judged := Evaluate([]budget.Declaration{s.d}, of(s.records...), observed(), noon, time.LoadLocation)[0]
	if near(s.used(noon), new(big.Rat).SetInt64(r.Limit)) {
		return
	}
	var since *time.Time
	if last := len(r.Exceeded) - 1; last >= 0 && r.Exceeded[last].Until.IsZero() {
		since = &r.Exceeded[last].Since
	}
	if (since != nil) != judged.Usage.Exceeded() {
		t.Fatalf("exceeded since %v, and a run says %t", since, judged.Usage.Exceeded())
	}
	if since == nil || since.Equal(r.From) && !judged.ExceededSince.After(r.From) {
		return
	}
	if !since.Equal(*judged.ExceededSince) {
		t.Fatalf("exceeded since %s, and a run says %s", since, judged.ExceededSince)
	}
}

// TestCompleteFrom is when a whole window lies after what the ledger begins with.
func TestCompleteFrom(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		d    budget.Declaration
		want time.Time
	}{
		{budget.Declaration{Window: "36h"}, noon.Add(36 * time.Hour)},
		{budget.Declaration{Period: budget.Day}, noon.Add(12 * time.Hour)},
		{budget.Declaration{Period: budget.Day, TimeZone: "Etc/GMT-12"}, noon},
		{budget.Declaration{Period: budget.Week, TimeZone: "Asia/Tokyo"}, time.Date(2026, 7, 19, 15, 0, 0, 0, time.UTC)},
	} {
		if got, err := CompleteFrom(test.d, noon, time.LoadLocation); err != nil || !got.Equal(test.want) {
			t.Errorf("%+v: %s, %v, want %s", test.d, got, err, test.want)
		}
	}
}

// TestReplayRefuses what is no time, and what no run would judge.
func TestReplayRefuses(t *testing.T) {
	t.Parallel()
	if _, err := Replay(teamA(), of(), noon, noon, time.LoadLocation); err == nil {
		t.Error("no time was replayed")
	}
	d := teamA()
	d.GPUHours = ""
	if _, err := Replay(d, of(), noon.Add(-time.Hour), noon, time.LoadLocation); err == nil {
		t.Error("no limit was replayed")
	}
}

// TestAnExcessEndsToTheMillisecond, and with its period even if that ends now.
func TestAnExcessEndsToTheMillisecond(t *testing.T) {
	t.Parallel()
	midnight := noon.Add(12 * time.Hour)
	for _, test := range []struct {
		window       string
		period       budget.Period
		intervals    [][3]float64
		since, until time.Time
	}{
		{"4h", "", [][3]float64{{1, 10, 8}}, noon.Add(-8 * time.Hour), noon.Add(-6*time.Hour + time.Millisecond)},
		{"", budget.Day, [][3]float64{{1, 4, -1}}, noon.Add(-2 * time.Hour), midnight},
	} {
		d := teamA()
		d.GPUHours, d.Window, d.Period = "2", test.window, test.period
		r, err := Replay(d, of(podsOf(test.intervals)...), noon.Add(-11*time.Hour), midnight, time.LoadLocation)
		if err != nil {
			t.Fatal(err)
		}
		want := []time.Time{test.since, test.until}
		if len(r.Exceeded) != 1 || !slices.EqualFunc([]time.Time{r.Exceeded[0].Since, r.Exceeded[0].Until}, want, time.Time.Equal) {
			t.Errorf("%s%s: %+v, want %s", test.window, test.period, r.Exceeded, want)
		}
	}
}

// TestAnExcessChargesWhoHeldGPUsThen, and for no other time.
func TestAnExcessChargesWhoHeldGPUsThen(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, limit, window string
		web                 [2]float64 // a GPU there, in addition to those of ml
		intervals           [][3]float64
		want                []map[string]int64
	}{
		{"begun during one", "1", "24h", [2]float64{2, -1}, [][3]float64{{1, 5, -1}}, []map[string]int64{{"ml": 4 * budget.Hour, "web": 2 * budget.Hour}}},
		{
			"all of one, and ended during the next", "5", "4h", [2]float64{22, 6}, [][3]float64{{2, 15, 14}, {2, 9, 8}},
			[]map[string]int64{{"ml": budget.Hour, "web": 4*budget.Hour + 1}, {"ml": budget.Hour, "web": 5 * budget.Hour / 2}},
		},
	} {
		d := teamA()
		d.GPUHours, d.Window, d.Selector.Namespaces = test.limit, test.window, nil
		records := podsOf(append(test.intervals, [3]float64{1, test.web[0], test.web[1]}))
		records[len(records)-1].Set = set("web", "team", "a")
		r, err := Replay(d, of(records...), noon.Add(-hours(24)), noon, time.LoadLocation)
		if err != nil {
			t.Fatal(err)
		}
		var got []map[string]int64
		for _, e := range r.Exceeded {
			got = append(got, e.ByNamespace)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}
