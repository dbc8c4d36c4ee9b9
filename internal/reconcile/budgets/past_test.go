package budgets_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// present is when the tests of the past ask.
var present = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// quiet is a cluster in which nothing happened since the last run.
type quiet struct{ budgets.Cluster }

func (quiet) UID(context.Context) (string, error) { return "cluster", nil }
func (quiet) Calls() map[string]int               { return nil }

func (quiet) Observe(context.Context, gpu.ObserveOptions) (gpu.Observation, error) {
	return gpu.Observation{ClusterUID: "cluster", At: present, ResourceVersion: "8", Replay: gpu.Replay{Complete: true}}, nil
}

// shelf is a read-only store that has only a ledger.
type shelf map[string][]byte

func (shelf) String() string           { return "directory:shelf" }
func (shelf) Location() store.Location { return store.Location{} }

func (s shelf) List(_ context.Context, kind store.Kind) ([]store.Document, error) {
	var list []store.Document
	for name, data := range s {
		if kind == store.Ledger {
			list = append(list, store.Document{Key: store.Key{Kind: kind, Name: name}, Data: data})
		}
	}
	return list, nil
}

func (shelf) Read(context.Context, store.Key) (store.Document, error) {
	return store.Document{}, store.ErrNotFound
}

func (shelf) Write(context.Context, store.Key, []byte, store.Revision) (store.Revision, error) {
	return "", errReadOnly
}

func (shelf) Delete(context.Context, store.Key, store.Revision) error { return errReadOnly }

func (shelf) Lock(context.Context, string, time.Duration) (store.Lock, error) {
	return nil, errReadOnly
}

func (shelf) Holder(context.Context, string) (*store.Holder, error) { return nil, errReadOnly }

var errReadOnly = errors.New("a question writes nothing and takes no lock")

// remembering is a flow on a ledger that runs have kept for five days, and dropped all
// of that ended before another. It has the pods that change adds.
func remembering(t testing.TB, change func(*ledger.Ledger)) *budgets.Flow {
	t.Helper()
	l := ledger.New("cluster")
	l.Header.Began, l.Header.LastRun = hoursAgo(120), hoursAgo(1)
	l.Header.LastListed, l.Header.ResourceVersion = l.Header.LastRun, "7"
	change(l)
	changes, err := l.Changes()
	if err != nil {
		t.Fatal(err)
	}
	kept := shelf{}
	for _, document := range changes.Write {
		kept["cluster/"+document.Name] = document.Data
	}
	return &budgets.Flow{
		Cluster:    func(context.Context) (budgets.Cluster, error) { return quiet{}, nil },
		Repository: record.Repository{Store: kept}, Clock: func() time.Time { return present },
	}
}

func hoursAgo(hours float64) ledger.Time {
	return ledger.Time(present.Add(-time.Duration(hours * float64(time.Hour))).UnixMilli())
}

// pod adds one that held a GPU from and until so many hours ago; -1 is still.
func pod(t testing.TB, l *ledger.Ledger, namespace string, from, until float64) {
	t.Helper()
	r := ledger.Record{
		UID: fmt.Sprintf("%s-%g-%d", namespace, from, l.Len()), Name: "p", Seen: hoursAgo(from) + 1000,
		Set:        &ledger.LabelSet{Namespace: namespace, Labels: ledger.LabelsOf(map[string]string{"team": namespace + "-team"})},
		Allocation: &ledger.Allocation{Shown: 1, Shares: []ledger.Share{{Resource: "nvidia.com/gpu", Units: big.NewRat(1, 1), Weight: big.NewRat(1, 1)}}},
		Place:      &ledger.Place{Node: "n"}, Start: ledger.Start{At: hoursAgo(from), Source: ledger.PodScheduled},
	}
	if until >= 0 {
		r.End = ledger.ExactEnd(hoursAgo(until), ledger.ContainerFinished)
	}
	if err := l.Merge(r); err != nil {
		t.Fatal(err)
	}
}

func all() budget.Declaration {
	return budget.Declaration{Window: "24h", Selector: budget.Selector{Namespaces: []string{"ml", "web"}}}.WithDefaults()
}

// TestUsageOfThePast is what it was then: of pods that ended since, that they held
// their GPUs.
func TestUsageOfThePast(t *testing.T) {
	t.Parallel()
	f := remembering(t, func(l *ledger.Ledger) {
		pod(t, l, "ml", 50, 40)
		pod(t, l, "ml", 47, -1)
		pod(t, l, "web", 30, 20)
	})
	for _, tt := range []struct {
		hours float64
		over  budgets.Over
		want  string
	}{
		{45, budgets.Over{}, "7.000 by 2 pods, 2 of them then"},
		{40, budgets.Over{}, "17.000 by 2 pods, 1 of them then"},
		{24, budgets.Over{}, "37.000 by 3 pods, 2 of them then"},
		{24, budgets.Over{Period: budget.Day}, "18.000 by 2 pods, 2 of them then"},                             // from midnight
		{24, budgets.Over{Period: budget.Day, TimeZone: "Asia/Singapore"}, "30.000 by 3 pods, 2 of them then"}, // from 16:00
		{24, budgets.Over{Window: "1h", GPUHours: "2"}, "2.000 by 2 pods, 2 of them then, exceeded"},
		{0, budgets.Over{}, "28.000 by 2 pods, 1 of them then"},
	} {
		live, err := f.Ask(context.Background(), budgets.Question{
			Declaration: all(), Over: tt.over, At: present.Add(-time.Duration(tt.hours * float64(time.Hour))),
		})
		if err != nil {
			t.Fatal(err)
		}
		u := live.Usage
		got := fmt.Sprintf("%s by %d pods, %d of them then", budget.Hours(u.Consumed), u.TrackedPods, u.ActivePods)
		if u.Limit > 0 && u.Exceeded() {
			got += ", exceeded"
		}
		if got != tt.want {
			t.Errorf("%g hours ago over %+v: %s, want %s", tt.hours, tt.over, got, tt.want)
		}
		sum := int64(0)
		for _, p := range live.Pods {
			sum += p.Consumed
		}
		if sum != u.Consumed || len(live.Pods) != u.TrackedPods {
			t.Errorf("the pods add up to %d of %d", sum, u.Consumed)
		}
	}
}

// TestNothingIsKnownOfAnotherTime, and it says from when on something is.
func TestNothingIsKnownOfAnotherTime(t *testing.T) {
	t.Parallel()
	ago := func(hours float64) time.Time { return present.Add(-time.Duration(hours * float64(time.Hour))) }
	f := remembering(t, func(l *ledger.Ledger) {
		l.Header.Began += 1 // what is read off the message is a whole second
		pod(t, l, "ml", 130, 2)
	})
	pruned := remembering(t, func(l *ledger.Ledger) { l.Prune(hoursAgo(48)) })
	young := remembering(t, func(l *ledger.Ledger) { l.Header = ledger.Header{ClusterUID: "cluster"} })
	blank := &budgets.Flow{Cluster: f.Cluster, Clock: f.Clock}
	for name, tt := range map[string]struct {
		flow *budgets.Flow
		at   time.Time
		want string
	}{
		"before the ledger":   {f, ago(121), " begins at 2026-11-16T12:00:01Z"},
		"just before it":      {f, ago(120), " begins at 2026-11-16T12:00:01Z"},
		"from that second on": {f, ago(120).Add(time.Second), ""},
		"dropped":             {pruned, ago(73), "usage at 2026-11-18T11:00:00Z is unknown: the ledger in the store directory:"},
		"kept":                {pruned, ago(47), ""},
		"to come":             {f, ago(-1), "2026-11-21T13:00:00Z is in the future: the cluster's clock is at 2026-11-21T12:00:00Z"},
		"no ledger yet":       {young, ago(1), "the first gpupool reconcile begins the ledger"},
		"no store":            {blank, ago(1), "past usage needs the ledger of a store: add --store"},
	} {
		_, err := tt.flow.Ask(context.Background(), budgets.Question{Declaration: all(), At: tt.at})
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
	for _, flow := range []*budgets.Flow{young, blank} {
		if _, err := flow.Replay(context.Background(), budgets.Question{Declaration: all(), Over: budgets.Over{GPUHours: "1"}}); err == nil {
			t.Error("nothing was replayed")
		}
	}
}

// TestAReplayIsWhatWouldHaveBeenSaid at any moment: it is exceeded where usage of
// that moment is.
func TestAReplayIsWhatWouldHaveBeenSaid(t *testing.T) {
	t.Parallel()
	f := remembering(t, func(l *ledger.Ledger) {
		for n := range 30 {
			from := 1 + float64(n*37%139)
			pod(t, l, []string{"ml", "web", "ops"}[n%3], from, max(-1, from-float64(n*13%29)))
		}
	})
	for _, over := range []budgets.Over{
		{GPUHours: "35"}, {GPUHours: "50", Window: "36h"}, {GPUHours: "20", Period: budget.Day, TimeZone: "Asia/Tokyo"}, {GPUHours: "150", Period: budget.Week},
	} {
		replay, err := f.Replay(context.Background(), budgets.Question{Declaration: all(), Over: over})
		if err != nil {
			t.Fatal(err)
		}
		times := map[bool]int{}
		for at := replay.From; !at.After(present); at = at.Add(7*time.Hour + 10*time.Minute) {
			live, err := f.Ask(context.Background(), budgets.Question{Declaration: all(), Over: over, At: at})
			if err != nil {
				t.Fatal(err)
			}
			exceeded := false
			for _, e := range replay.Exceeded {
				exceeded = exceeded || !at.Before(e.Since) && (e.Until.IsZero() || at.Before(e.Until))
			}
			times[exceeded]++
			if exceeded != live.Usage.Exceeded() {
				t.Errorf("at %s %s of %s are used, and the replay says exceeded: %t", at, budget.Hours(live.Usage.Consumed), over.GPUHours, exceeded)
			}
			if live.Usage.Consumed > replay.Peak {
				t.Errorf("at %s more are used than the most, %s", at, budget.Hours(replay.Peak))
			}
		}
		if times[true] == 0 || times[false] == 0 {
			t.Errorf("%+v was exceeded %v times: that tries little", over, times)
		}
	}
}

// TestAReplaySaysWhatItLacks: how far back the window reaches beyond the ledger, and
// what was not observed.
func TestAReplaySaysWhatItLacks(t *testing.T) {
	t.Parallel()
	asked := budgets.Question{Declaration: all(), Over: budgets.Over{GPUHours: "5", BreakdownLabels: []string{"team"}}}
	f := remembering(t, func(l *ledger.Ledger) {
		pod(t, l, "ml", 100, 90)
		l.AddGap(ledger.Gap{From: hoursAgo(60), To: hoursAgo(48), GPUs: big.NewRat(1, 1)})
	})
	r, err := f.Replay(context.Background(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if !r.From.Equal(present.Add(-120*time.Hour)) || !r.CompleteFrom.Equal(r.From.Add(24*time.Hour)) || r.Coverage != 900 {
		t.Errorf("from %s, complete from %s, %d observed", r.From, r.CompleteFrom, r.Coverage)
	}
	if len(r.Exceeded) != 1 || r.Total() != 24*time.Hour+time.Millisecond || budget.Hours(r.ByLabel["team"]["ml-team"]) != "5.000" {
		t.Errorf("%+v", r.Replayed)
	}
	accepted := remembering(t, func(l *ledger.Ledger) { l.Accept(ledger.Acceptance{At: hoursAgo(2), Reason: "moved here"}) })
	if r, err = accepted.Replay(context.Background(), asked); err != nil || !r.CompleteFrom.Equal(r.From) {
		t.Errorf("what was accepted is still missing before %s: %v", r.CompleteFrom, err)
	}
}
