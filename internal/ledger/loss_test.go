package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

func anyHeader() *rapid.Generator[ledger.Header] {
	return rapid.Custom(func(t *rapid.T) ledger.Header {
		few := func(name string) ledger.Time { return ledger.Time(rapid.IntRange(0, 3).Draw(t, name)) }
		word := func() ledger.Acceptance {
			if at := few("accepted"); at > 0 {
				return ledger.Acceptance{At: noon + at, Reason: rapid.SampledFrom([]string{"gone", "late"}).Draw(t, "reason")}
			}
			return ledger.Acceptance{}
		}
		h := ledger.Header{ClusterUID: cluster, Began: noon - few("began")*hour}
		for n := range rapid.IntRange(0, 3).Draw(t, "losses") {
			h.Lost = append(h.Lost, ledger.Loss{
				Document: fmt.Sprintf("closed-2026-11-1%d", n), From: noon - 10*hour, To: noon - few("until")*hour,
				Reason: "missing", Accepted: word(),
			})
		}
		if a := word(); a.IsSet() {
			h.Forgone = ledger.Forgone{Before: noon - few("before")*hour, Acceptance: a}
		}
		return h
	})
}

// TestHeadersJoinInAnyOrder joins the losses and acceptances of two runs in both orders, and stores
// the result.
func TestHeadersJoinInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		headers := rapid.SliceOfN(anyHeader(), 3, 3).Draw(t, "headers")
		joined := func(order ...int) *ledger.Ledger {
			l := ledger.New(cluster)
			for _, n := range order {
				other := ledger.New(cluster)
				other.Header = headers[n]
				if err := l.Join(other); err != nil {
					t.Fatalf("join: %v", err)
				}
			}
			return l
		}
		want := joined(0, 1, 2)
		same(t, "in another order", joined(2, 0, 1), want)
		same(t, "joined twice", joined(0, 1, 1, 2, 0), want)
		right := joined(1, 2)
		left := joined(0)
		if err := left.Join(right); err != nil {
			t.Fatalf("join: %v", err)
		}
		same(t, "grouped otherwise", left, want)
		d := disk{}
		d.save(t, want, allSteps)
		same(t, "read again", d.load(t, noon), want)
	})
}

func TestWhatIsAcceptedIsMissedNoMore(t *testing.T) {
	t.Parallel()
	l := ledger.New(cluster)
	l.Header.Began = noon - 2*hour
	l.Header.Lost = []ledger.Loss{{Document: "closed-2026-11-20-09.parquet", From: noon - 3*hour, To: noon - 2*hour, Reason: "missing"}}
	if lost := l.Header.LostSince(noon - day); len(lost) != 1 {
		t.Fatalf("lost: %v", lost)
	}
	accepted := l.Accept(ledger.Acceptance{At: noon, Reason: "no copy"})
	if len(accepted) != 1 || len(l.Header.LostSince(noon-day)) != 0 || l.Header.Forgone.Before != noon-2*hour {
		t.Errorf("accepted %v, header %+v", accepted, l.Header)
	}
	if again := l.Accept(ledger.Acceptance{At: noon + hour, Reason: "again"}); len(again) != 0 || l.Header.Forgone.At != noon {
		t.Errorf("accepted again %v, header %+v", again, l.Header)
	}
	later := ledger.Loss{Document: "recent.parquet", From: noon, To: noon + hour, Reason: "damaged"}
	l.Header.Lost = append(l.Header.Lost, later)
	if lost := l.Header.LostSince(noon - day); len(lost) != 1 || lost[0] != later {
		t.Errorf("lost since: %v", lost)
	}
}

// TestALossThatARunRecordedIsStillListed: Load returns no problem for a missing document that the
// header does not list.
func TestALossThatARunRecordedIsStillListed(t *testing.T) {
	t.Parallel()
	const lost = "closed-2026-11-20-11.parquet"
	d, _ := stored(t, 3, noon)
	delete(d, lost)
	for run := range 2 {
		l, problems, err := ledger.Load(cluster, d, noon+5*minute)
		if err != nil || len(problems) != 1-run {
			t.Fatalf("run %d: problems %v, %v", run+1, problems, err)
		}
		list := l.Unaccepted(problems)
		if len(list) != 1 || list[0].Document != lost || !strings.Contains(list[0].Error(), "is missing") {
			t.Errorf("run %d: %v are listed", run+1, list)
		}
		d.save(t, l, allSteps)
	}
	l := d.load(t, noon+10*minute)
	l.Accept(ledger.Acceptance{At: noon + 10*minute, Reason: "no copy"})
	if list := l.Unaccepted(nil); len(list) != 0 {
		t.Errorf("%v are listed after they were accepted", list)
	}
}

func TestOnlyRecentAndClosedTogetherLoseEnds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		documents []string
		want      bool
	}{
		{[]string{"recent.parquet"}, false},
		{[]string{"closed-2026-11-20.parquet", "open-0a.parquet"}, false},
		{[]string{"closed-2026-11-20-09.parquet", "recent.parquet"}, true},
		{[]string{"recent_1of2.parquet", "closed-2026-11-20_2of2.parquet"}, true},
		{[]string{"all before 2026-11-20T12:00:00Z"}, false},
	} {
		var lost []ledger.Loss
		for _, document := range test.documents {
			lost = append(lost, ledger.Loss{Document: document})
		}
		if got := ledger.EndsLost(lost); got != test.want {
			t.Errorf("%v: %v", test.documents, got)
		}
	}
}
