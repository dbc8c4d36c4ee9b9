package days

import (
	"fmt"
	"time"
)

// figures are what came of a pool on a day, or on several.
type figures struct {
	at, below time.Duration // its minimum of Ready nodes, or below
	streak    time.Duration // below it, up to now
	longest   time.Duration
	until     time.Duration // when the longest ended, on its day
	lost      time.Duration // GPU time of work that ended with its machine
	killed    int           // jobs
	moved     int           // jobs that were evicted, and went on elsewhere
	launches  int
	twice     int // launches of what was there or on its way
	above     int // launches above the maximum
	strangers int // machines and nodes that are not the pools', and were touched
}

func (s *stage) measure(p *pool) {
	ready := 0
	for _, m := range p.machines {
		if m.node != "" && m.unready.IsZero() {
			ready++
		}
	}
	f := &p.figures
	if ready >= p.Minimum {
		f.at += tick
		f.streak = 0
		return
	}
	f.below += tick
	f.streak += tick
	if f.streak > f.longest {
		f.longest, f.until = f.streak, s.now
	}
}

func (f figures) and(g figures) figures {
	return figures{
		at: f.at + g.at, below: f.below + g.below, longest: max(f.longest, g.longest), lost: f.lost + g.lost, killed: f.killed + g.killed,
		moved: f.moved + g.moved, launches: f.launches + g.launches, twice: f.twice + g.twice, above: f.above + g.above, strangers: f.strangers + g.strangers,
	}
}

// share is the part of the time at which the pool stood at its minimum.
func (f figures) share() float64 { return float64(f.at) / float64(f.at+f.below) }

func (f figures) String() string {
	return fmt.Sprintf("%.2f %% at minimum, longest shortfall %s until %s, lost %.1f h", 100*f.share(), f.longest, f.until, f.lost.Hours())
}
