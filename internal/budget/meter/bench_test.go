package meter

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// fleet is a ledger of two weeks: 200 namespaces, 500 teams, and 10,000 jobs with a label of their own each.
// A tenth of the pods still exist, and some vanished.
func fleet(b *testing.B, pods int) *ledger.Ledger {
	b.Helper()
	const jobs = 10_000
	sets := make([]*ledger.LabelSet, jobs)
	for n := range sets {
		sets[n] = set(fmt.Sprintf("ns-%d", n%200), "team", fmt.Sprintf("team-%d", n%500), "job-name", fmt.Sprintf("job-%d", n), "tier",
			[]string{"train", "serve", "batch"}[n%3])
	}
	held := []*ledger.Allocation{allocation("1", "1"), allocation("8", "1"), allocation("1", "1/7"), allocation("35", "1/100"), allocation("2", "1")}
	places := make([]*ledger.Place, 500)
	for n := range places {
		places[n] = &ledger.Place{Node: fmt.Sprintf("node-%d", n), Model: []string{"T4", "A100"}[n%2], InstanceType: "GN7.2XLARGE32"}
	}
	begin := noon.AddDate(0, 0, -14).UnixMilli()
	span := noon.UnixMilli() - begin
	l := ledger.New("cluster")
	l.Header = observed()
	l.AddGap(ledger.Gap{From: ago(30 * time.Hour), To: ago(29 * time.Hour), GPUs: rat("1000")})
	for n := range pods {
		random := uint64(n)*0x9e3779b97f4a7c15 ^ 0x5bf03635
		random ^= random >> 29
		start := ledger.Time(begin + int64(random%uint64(span))/1000*1000)
		job := random >> 7 % jobs
		r := ledger.Record{
			UID: fmt.Sprintf("%08x-2c1d-4f6e-9b7a-%012x", n, random&0xffffffffffff), Name: fmt.Sprintf("job-%d-%05x", job, random>>40&0xfffff),
			Seen: start + 60_000, Set: sets[job], Allocation: held[random>>23%5], Place: places[random>>31%500],
			Start: ledger.Start{At: start, Source: ledger.PodScheduled}, Runs: ledger.Start{At: start + 9000, Source: ledger.ContainerStarted},
		}
		length := ledger.Time(60_000+random>>11%(8*3600*1000)) / 1000 * 1000
		switch {
		case random>>41%10 == 0:
		case random>>41%100 == 1:
			r.End = ledger.End{Earliest: start + length, At: start + length + 300_000, Source: ledger.Estimated}
		default:
			r.End = ledger.ExactEnd(start+length, ledger.ContainerFinished)
		}
		if err := l.Merge(r); err != nil {
			b.Fatal(err)
		}
	}
	return l
}

// teams are budgets of every kind, of which about half are exceeded.
func teams(count, pods int) []budget.Declaration {
	list := make([]budget.Declaration, count)
	for n := range list {
		d := budget.Declaration{Name: fmt.Sprintf("b-%d", n), GPUHours: fmt.Sprint(1 + pods*(n%40+1)/(count/4))}
		switch n % 4 {
		case 0, 1:
			d.Selector.MatchLabels = map[string]string{"team": fmt.Sprintf("team-%d", n%500)}
		case 2:
			d.Selector.Namespaces = []string{fmt.Sprintf("ns-%d", n%200)}
		case 3:
			d.Selector.MatchExpressions = []budget.Expression{{
				Key: "team", Operator: "In", Values: []string{fmt.Sprintf("team-%d", n%500), fmt.Sprintf("team-%d", (n+1)%500)},
			}, {Key: "tier", Operator: "NotIn", Values: []string{"batch"}}}
		}
		switch n % 3 {
		case 0:
			d.Window = "24h"
		case 1:
			d.Window = "7d"
		case 2:
			d.Period, d.TimeZone = budget.Month, "Asia/Singapore"
		}
		list[n] = d.WithDefaults()
	}
	return list
}

// BenchmarkEvaluate judges 1,000 budgets. It also reports the size of the ledger in the heap. The numbers of
// budgets that are exceeded, now or later, show that the sweeps take part.
func BenchmarkEvaluate(b *testing.B) {
	for _, pods := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("intervals=%d", pods), func(b *testing.B) {
			l, budgets := fleet(b, pods), teams(1000, pods)
			var memory runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&memory)
			b.ReportAllocs()
			exceeded, ahead := 0, 0
			for b.Loop() {
				exceeded, ahead = crossed(b, Evaluate(budgets, l.All(), l.Header, noon, time.LoadLocation))
			}
			b.ReportMetric(float64(memory.HeapAlloc)/(1<<20), "ledger-MiB")
			b.ReportMetric(float64(exceeded), "exceeded")
			b.ReportMetric(float64(ahead), "projected")
		})
	}
}

// crossed counts the budgets that are exceeded, and those that are to be.
func crossed(b *testing.B, results []Result) (exceeded, ahead int) {
	b.Helper()
	for _, r := range results {
		if r.Err != nil {
			b.Fatal(r.Err)
		}
		if r.ExceededSince != nil {
			exceeded++
		}
		if r.Usage.ProjectedExhaustion != nil {
			ahead++
		}
	}
	return exceeded, ahead
}

// BenchmarkReplay replays two weeks of a budget that covers every pod, with limits
// that are never reached, often, and always.
func BenchmarkReplay(b *testing.B) {
	for _, pods := range []int{100_000, 1_000_000} {
		l := fleet(b, pods)
		for name, hours := range map[string]int{"never": 1_000_000_000, "often": pods * 9 / 10, "always": 1} {
			for _, window := range []budget.Declaration{{Window: "24h"}, {Period: budget.Day, TimeZone: "Asia/Singapore"}} {
				b.Run(fmt.Sprintf("intervals=%d/%s/%s%s", pods, name, window.Window, window.Period), func(b *testing.B) {
					d := window.WithDefaults()
					d.GPUHours, d.BreakdownLabels = fmt.Sprint(hours), []string{"team"}
					d.Selector.MatchExpressions = []budget.Expression{{Key: "team", Operator: "Exists"}}
					b.ReportAllocs()
					times := 0
					for b.Loop() {
						r, err := Replay(d, l.All(), noon.AddDate(0, 0, -14), noon, time.LoadLocation)
						if err != nil {
							b.Fatal(err)
						}
						times = len(r.Exceeded)
					}
					b.ReportMetric(float64(times), "exceeded")
				})
			}
		}
	}
}
