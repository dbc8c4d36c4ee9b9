package days

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// played is what came of days in one way: by pool, and for each day the GPU time lost.
type played struct {
	pools  []figures
	counts map[string]int
	lost   []time.Duration
}

func newPlayed(days int) played {
	return played{pools: make([]figures, len(poolNames)), counts: map[string]int{}, lost: make([]time.Duration, days)}
}

func (r *played) add(n int, s *stage) {
	for k, p := range s.pools {
		r.pools[k] = r.pools[k].and(p.figures)
		r.lost[n] += p.figures.lost
		r.counts["jobs begun"] += p.given
	}
	for what, times := range s.counts {
		r.counts[what] += times
	}
}

func printTables(t *testing.T, results []played) {
	t.Helper()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| pool\t| kept by\t| at its minimum\t| longest shortfall\t| GPU-hours lost\t| jobs lost\t| jobs moved\t| launches\t| launched "+
		"twice\t| above maximum\t| strangers touched\t|")
	fmt.Fprintln(w, "|"+strings.Repeat("---\t|", 11))
	for n, name := range poolNames {
		for k, r := range results {
			f := r.pools[n]
			fmt.Fprintf(w, "| %s, %d to %d\t| %s\t| %.2f %%\t| %s\t| %.0f\t| %d\t| %d\t| %d\t| %d\t| %d\t| %d\t|\n", name, poolSizes[n][0], poolSizes[n][1],
				ways[k].name,
				100*f.share(), short(f.longest), f.lost.Hours(), f.killed, f.moved, f.launches, f.twice, f.above, f.strangers)
		}
	}
	fmt.Fprintln(w, "\n| played\t| "+strings.Join(names(), "\t| ")+"\t|")
	fmt.Fprintln(w, "|"+strings.Repeat("---\t|", 1+len(ways)))
	var all []string
	for _, r := range results {
		all = slices.AppendSeq(all, maps.Keys(r.counts))
	}
	slices.Sort(all)
	for _, what := range slices.Compact(all) {
		fmt.Fprintf(w, "| %s\t", what)
		for _, r := range results {
			fmt.Fprintf(w, "| %d\t", r.counts[what])
		}
		fmt.Fprintln(w, "|")
	}
	if err := w.Flush(); err != nil {
		t.Error(err)
	}
}

func names() []string {
	var list []string
	for _, way := range ways {
		list = append(list, way.name)
	}
	return list
}

// short is a time in hours and minutes.
func short(d time.Duration) string {
	if d < time.Hour {
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}

// writePoints writes a row for each day, with the GPU-hours lost in each way.
func writePoints(t *testing.T, file string, results []played) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, `"`+strings.Join(names(), `","`)+`"`)
	for day := range results[0].lost {
		var row []string
		for _, r := range results {
			row = append(row, fmt.Sprintf("%.2f", r.lost[day].Hours()))
		}
		fmt.Fprintln(&b, strings.Join(row, ","))
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Error(err)
	}
}
