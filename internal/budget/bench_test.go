package budget

import (
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// fleet is a cluster's pods over two weeks, made up as they are asked for so
// that only what the evaluation itself keeps is measured: 200 namespaces, 500
// teams, a tenth of the pods still there, and now and then a vanished one.
func fleet(pods int) iter.Seq[*ledger.Record] {
	const jobs = 10_000
	sets := make([]*ledger.LabelSet, jobs)
	for n := range sets {
		sets[n] = set(fmt.Sprintf("ns-%d", n%200), "team", fmt.Sprintf("team-%d", n%500), "job-name", fmt.Sprintf("job-%d", n), "tier", []string{"train", "serve", "batch"}[n%3])
	}
	held := []*ledger.Holding{holding("1", "1"), holding("8", "1"), holding("1", "1/7"), holding("35", "1/100"), holding("2", "1")}
	places := make([]*ledger.Place, 500)
	for n := range places {
		places[n] = &ledger.Place{Node: fmt.Sprintf("node-%d", n), Model: []string{"T4", "A100"}[n%2], InstanceType: "GN7.2XLARGE32"}
	}
	begin := noon.AddDate(0, 0, -14).UnixMilli()
	span := noon.UnixMilli() - begin
	return func(yield func(*ledger.Record) bool) {
		var r ledger.Record
		for n := range pods {
			random := uint64(n)*0x9e3779b97f4a7c15 ^ 0x5bf03635
			random ^= random >> 29
			start := ledger.Time(begin + int64(random%uint64(span))/1000*1000)
			r = ledger.Record{Set: sets[random>>7%jobs], Held: held[random>>23%5], Place: places[random>>31%500], Start: ledger.Start{At: start}, Runs: ledger.Start{At: start + 9000}}
			length := ledger.Time(60_000 + random>>11%(8*3600*1000))
			switch {
			case random>>41%10 == 0:
			case random>>41%100 == 1:
				r.End = ledger.End{Earliest: start + length, At: start + length + 300_000, Source: ledger.Estimated}
			default:
				r.End = ledger.ExactEnd(start+length, ledger.ContainerFinished)
			}
			if !yield(&r) {
				return
			}
		}
	}
}

// teams are budgets of every kind, of which about half are exceeded.
func teams(count, pods int) []Declaration {
	list := make([]Declaration, count)
	for n := range list {
		d := Declaration{Name: fmt.Sprintf("b-%d", n), GPUHours: fmt.Sprint(1 + pods*(n%40+1)/(count/4))}
		switch n % 4 {
		case 0, 1:
			d.Selector.MatchLabels = map[string]string{"team": fmt.Sprintf("team-%d", n%500)}
		case 2:
			d.Selector.Namespaces = []string{fmt.Sprintf("ns-%d", n%200)}
		case 3:
			d.Selector.MatchExpressions = []Expression{{Key: "team", Operator: "In", Values: []string{fmt.Sprintf("team-%d", n%500), fmt.Sprintf("team-%d", (n+1)%500)}}, {Key: "tier", Operator: "NotIn", Values: []string{"batch"}}}
		}
		switch n % 3 {
		case 0:
			d.Window = "24h"
		case 1:
			d.Window = "7d"
		case 2:
			d.Period, d.TimeZone = Month, "Asia/Singapore"
		}
		list[n] = d.WithDefaults()
	}
	return list
}

// BenchmarkEvaluate judges 1,000 budgets; beside the time it reports how many of
// them are exceeded, so that the sweep is known to take part.
func BenchmarkEvaluate(b *testing.B) {
	for _, pods := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("intervals=%d", pods), func(b *testing.B) {
			records, budgets := fleet(pods), teams(1000, pods)
			h := observed()
			h.Gaps = []ledger.Gap{{From: ago(30 * time.Hour), To: ago(29 * time.Hour), GPUs: rat("1000")}}
			b.ReportAllocs()
			exceeded, ahead := 0, 0
			for b.Loop() {
				exceeded, ahead = 0, 0
				for _, r := range Evaluate(budgets, records, h, noon) {
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
			}
			b.ReportMetric(float64(exceeded), "exceeded")
			b.ReportMetric(float64(ahead), "projected")
		})
	}
}
