package days

import (
	"flag"
	"fmt"
	"sync"
	"testing"
)

var (
	full    = flag.Bool("full", false, "play many days, and print the tables")
	first   = flag.Uint64("seed", 1, "the seed of the first day")
	many    = flag.Int("days", 100, "how many days are played with -full")
	points  = flag.String("points", "", "`FILE` to which the work lost on each day is written, with -full")
	verbose = flag.Bool("log", false, "say what happens")
)

// TestDays plays days with each strategy. It fails if runs over pools with nodes launch twice or too
// many, or change foreign machines. Over many days they must not do worse than the plain loop.
func TestDays(t *testing.T) {
	days := 1
	if *full {
		days = *many
	}
	results := make([]played, len(ways))
	for n := range results {
		results[n] = newPlayed(days)
	}
	var mu sync.Mutex
	t.Run("days", func(t *testing.T) {
		for n := range days {
			seed := *first + uint64(n)
			for w, way := range ways {
				t.Run(fmt.Sprintf("%d, %s", seed, way.name), func(t *testing.T) {
					t.Parallel()
					s := newStage(t, draw(seed), way.nodes)
					s.play(way.strategy)
					mu.Lock()
					defer mu.Unlock()
					results[w].add(n, s)
					for _, p := range s.pools {
						t.Logf("%s: %s", p.Name, p.figures)
					}
				})
			}
		}
	})
	if t.Failed() {
		return
	}
	if *full {
		printTables(t, results)
	}
	if *points != "" {
		writePoints(t, *points, results)
	}
	compare(t, results)
}

const (
	// evensOut is after how many days gpupool is compared with the plain loop, pool by pool. Which
	// instance a reclaim takes, and which one never joins, is chance.
	evensOut = 20
	// leastShare is the least part of any day at which a pool with nodes has its minimum.
	leastShare = 0.75
)

// compare holds what came of pools with nodes against what must be, and over many days against what
// came of the plain loop.
func compare(t *testing.T, results []played) {
	ours, theirs := results[0], results[len(results)-1]
	for n, name := range poolNames {
		a, b := ours.pools[n], theirs.pools[n]
		if a.share() < leastShare {
			t.Errorf("%s: %s, want at least %.0f %%", name, a, 100*leastShare)
		}
		if len(ours.lost) >= evensOut && (a.share() < b.share() || a.longest > b.longest || a.lost > b.lost) {
			t.Errorf("%s does worse than with a plain loop: %s; %s", name, a, b)
		}
	}
	for w, r := range results[:len(results)-1] { // what the loop does is its own business
		for n, f := range r.pools {
			if f.twice+f.above+f.strangers > 0 {
				t.Errorf("%s, %s: %d launches of what was there, %d above maximum, %d strangers touched", ways[w].name, poolNames[n], f.twice, f.above,
					f.strangers)
			}
		}
	}
}
