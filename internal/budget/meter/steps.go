package meter

import (
	"math/big"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// step is where the rate of a budget rises or falls.
type step struct {
	at     ledger.Time
	change int64 // in parts of a GPU
}

// stepsOf are the steps of all that a budget selects, in the order of time, and how many parts are a GPU.
// Unconfirmed usage crosses no limit.
func (e *evaluation) stepsOf(a *account) (steps []step, parts int64) {
	since := ledger.Time(0)
	if !a.meter.window.Rolling {
		since = a.meter.begin
	}
	most := 0
	for _, s := range a.sets {
		most += 2 * len(s.intervals)
	}
	steps = slices.Grow(e.steps[:0], most) // their changes are numbers of rates at first
	for _, s := range a.sets {
		for n := range s.intervals {
			if c, counts := a.meter.count(&s.intervals[n], since); counts && !c.unconfirmed {
				steps = c.appendSteps(steps)
			}
		}
	}
	scaled, parts := inParts(a.meter.rules.rates, steps)
	scale(steps, scaled)
	e.steps, e.room = byTime(steps, slices.Grow(e.room[:0], len(steps))[:len(steps)])
	return e.steps, parts
}

// appendSteps adds those of one interval, by the numbers of its rates.
func (c *counted) appendSteps(steps []step) []step {
	if c.divided == nil {
		return appendSteps(steps, piece{c.start, c.end, c.rate}, !c.active)
	}
	for n, piece := range c.divided.counted {
		steps = appendSteps(steps, piece, !c.active || n+1 < len(c.divided.counted))
	}
	return steps
}

// scale writes parts of a GPU in the place of the numbers of rates.
func scale(steps []step, scaled []int64) {
	for n := range steps {
		if rate := steps[n].change; rate < 0 {
			steps[n].change = -scaled[-rate]
		} else {
			steps[n].change = scaled[rate]
		}
	}
}

func appendSteps(steps []step, p piece, ends bool) []step {
	steps = append(steps, step{p.from, int64(p.rate)})
	if ends {
		steps = append(steps, step{p.to, -int64(p.rate)})
	}
	return steps
}

// byTime sorts steps by radix, with room as scratch space. There are millions of them, and comparing takes
// twice as long as all other work.
func byTime(steps, room []step) (sorted, other []step) {
	if len(steps) == 0 {
		return steps, room
	}
	const bits, mask = 11, 1<<11 - 1
	least, most := steps[0].at, steps[0].at
	for n := range steps {
		least, most = min(least, steps[n].at), max(most, steps[n].at)
	}
	for shift := 0; (most-least)>>shift > 0; shift += bits {
		var next [1<<bits + 1]int
		for n := range steps {
			next[(steps[n].at-least)>>shift&mask+1]++
		}
		for n := range mask {
			next[n+1] += next[n]
		}
		for _, s := range steps {
			n := (s.at - least) >> shift & mask
			room[next[n]] = s
			next[n]++
		}
		steps, room = room, steps
	}
	return steps, room
}

// finest is the finest part of a GPU that a sweep tells apart.
const finest = 1 << 24

// inParts writes the rates of steps as whole numbers of one part of a GPU, and returns how many such parts
// are a GPU. Without a common part that is coarse enough, rates are rounded down to the finest.
func inParts(rates []rate, steps []step) (scaled []int64, parts int64) {
	named := make([]bool, len(rates))
	for _, s := range steps {
		named[max(s.change, -s.change)] = true
	}
	common := big.NewInt(1)
	for n, r := range rates {
		if !named[n] {
			continue
		}
		den := r.rat().Denom()
		shared := new(big.Int).GCD(nil, nil, common, den)
		common.Mul(common, new(big.Int).Quo(den, shared))
		if common.Cmp(big.NewInt(finest)) > 0 {
			common.SetInt64(finest)
			break
		}
	}
	scaled, parts = make([]int64, len(rates)), common.Int64()
	for n, r := range rates {
		if named[n] {
			scaled[n] = r.parts(parts)
		}
	}
	return scaled, parts
}
