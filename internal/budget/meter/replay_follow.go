package meter

import (
	"math/big"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// watch notes when usage rises to one level, and when it falls below another.
type watch struct {
	percent int
	amount  int64
	// up is what usage rises to, and down what it falls below, for it to rise again.
	up, down wide
	peaks    bool // the most that was used in each span is asked for

	above bool
	spans []risen
}

// risen is a time from a rise to a fall.
type risen struct {
	since, until ledger.Time // until is zero while it lasts
	before       bool        // it rose before the replay began, and stayed
	peak         peak
}

// peak is the most that was used, and when first.
type peak struct {
	used wide
	at   ledger.Time
}

func (p *peak) see(used wide, at ledger.Time) {
	if p.at == 0 || p.used.below(used) {
		p.used, p.at = used, at
	}
}

// watch watches some percent of a limit. It stays risen until usage is below the rearm percent, or no more
// than it if that is less.
func (p *replay) watch(limit int64, percent, rearm int) *watch {
	w := &watch{percent: percent, up: p.level(limit, percent, 99)}
	w.down = w.up
	if rearm < percent {
		w.down = p.level(limit, max(rearm, 0), 100)
	}
	w.amount = new(big.Int).Quo(new(big.Int).Add(new(big.Int).Mul(big.NewInt(limit), big.NewInt(int64(percent))), big.NewInt(99)), big.NewInt(100)).Int64()
	return w
}

// level is some percent of a limit in parts of a GPU times milliseconds. Adding 99 rounds up, and adding 100
// returns the next level above.
func (p *replay) level(limit int64, percent, more int) wide {
	n := new(big.Int).Mul(big.NewInt(limit), big.NewInt(p.parts))
	n.Mul(n, big.NewInt(int64(percent))).Add(n, big.NewInt(int64(more))).Quo(n, big.NewInt(100))
	low := new(big.Int).And(n, new(big.Int).SetUint64(^uint64(0))).Uint64()
	return wide{hi: new(big.Int).Rsh(n, 64).Int64(), lo: low}
}

// follower is the state of a replay.
type follower struct {
	used    wide        // in parts of a GPU times milliseconds
	rate    int64       // in parts of a GPU
	at      ledger.Time // zero before the first step
	from    ledger.Time // what is replayed
	began   bool        // what is replayed has
	peak    *peak       // nil where it is not asked for
	watches []*watch
	reach   func(to ledger.Time) // called before an advance; nil without samples
}

// pass takes a follower through steps, up to now.
func (p *replay) pass(f *follower, steps []step) {
	if p.span.Rolling > 0 {
		p.roll(f, steps)
	} else {
		p.period(f, steps)
	}
	f.to(p.now)
}

// to advances the replay to a moment.
func (f *follower) to(at ledger.Time) {
	if !f.began && at > f.from {
		f.advance(f.from)
		f.begin()
	}
	if f.reach != nil {
		f.reach(at)
	}
	f.advance(at)
}

// take moves on to a step, from which on the rate is another.
func (f *follower) take(s step) {
	f.to(s.at)
	f.rate += s.change
}

// roll has what happens enter a rolling window at once, and leave it by its length
// later.
func (p *replay) roll(f *follower, steps []step) {
	length, leaving := ledger.Time(p.span.Rolling.Milliseconds()), steps
	leave := func(until ledger.Time) {
		for ; len(leaving) > 0 && leaving[0].at+length <= until; leaving = leaving[1:] {
			f.take(step{leaving[0].at + length, -leaving[0].change})
		}
	}
	for _, s := range steps {
		leave(s.at)
		f.take(s)
	}
	leave(p.now)
}

// period begins with nothing at the beginning of each period of the calendar.
func (p *replay) period(f *follower, steps []step) {
	w := p.span.At(p.from.Time())
	start, end := ledger.TimeOf(w.Start), ledger.TimeOf(w.End)
	for len(steps) > 0 && steps[0].at <= start {
		f.rate += steps[0].change
		steps = steps[1:]
	}
	f.at = start
	turn := func(until ledger.Time) {
		for end <= until {
			f.to(end)
			f.turn()
			end = ledger.TimeOf(p.span.At(end.Time()).End)
		}
	}
	for _, s := range steps {
		turn(s.at)
		f.take(s)
	}
	turn(p.now)
}

// begin has what is above its level at the beginning of the replay begin with it.
func (f *follower) begin() {
	f.began = true
	for _, w := range f.watches {
		w.spans = nil
		if w.above {
			w.spans = []risen{{since: f.at, before: true}}
		}
	}
	f.see()
}

// turn is the beginning of a period: nothing is used in it yet. What would have risen
// at this very moment never did.
func (f *follower) turn() {
	f.used = wide{}
	for _, w := range f.watches {
		if last := len(w.spans) - 1; w.above && w.spans[last].since == f.at {
			w.above, w.spans = false, w.spans[:last]
		} else if w.above {
			w.fall(f.at)
		}
	}
}

// advance moves on, and notes which levels usage crosses on the way.
func (f *follower) advance(to ledger.Time) {
	passed := to - f.at
	if f.at == 0 { // nothing happened before
		f.at = to
		return
	}
	if passed <= 0 {
		return
	}
	if f.rate != 0 {
		used := f.used.plus(product(f.rate, int64(passed)))
		for _, w := range f.watches {
			switch {
			case f.rate > 0 && !w.above && !used.below(w.up):
				w.above = true
				w.spans = append(w.spans, risen{since: f.at + ledger.Time(w.up.minus(f.used).over(f.rate))})
			case f.rate < 0 && w.above && used.below(w.down):
				w.fall(f.at + ledger.Time(f.used.minus(w.down).floor(-f.rate)) + 1)
			}
		}
		f.used = used
	}
	f.at = to
	f.see()
}

// fall ends the last span.
func (w *watch) fall(at ledger.Time) {
	w.above = false
	w.spans[len(w.spans)-1].until = at
}

// see records the usage if it is the highest.
func (f *follower) see() {
	if !f.began {
		return
	}
	if f.peak != nil {
		f.peak.see(f.used, f.at)
	}
	for _, w := range f.watches {
		if w.peaks && w.above {
			w.spans[len(w.spans)-1].peak.see(f.used, f.at)
		}
	}
}
