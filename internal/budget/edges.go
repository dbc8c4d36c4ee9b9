package budget

import (
	"math/big"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// edge is where an interval begins or ends: the rate of its class rises or falls.
type edge struct {
	at     ledger.Time
	class  int32
	change int32 // the rate's number; below zero at an end
}

// edges gathers, in the order of time, where intervals begin and end of those
// classes that a valuation's sweeps ask for.
func (e *evaluation) edges(valuer int, asked []bool) []edge {
	most := 0
	for _, c := range e.classes.list {
		for n := range c.groups {
			if c.groups[n].valuer == valuer && asked[c.number] {
				most += 2 * c.groups[n].intervals
			}
		}
	}
	list := make([]edge, 0, most)
	v := e.valuers[valuer]
	for r := range e.records {
		c := e.classes.of(setOf(r))
		if !asked[c.number] {
			continue
		}
		s, ok := v.stretch(r, e.now)
		if !ok || !s.active && s.end <= s.start {
			continue
		}
		number := v.rate(r)
		if number == 0 {
			continue
		}
		list = append(list, edge{s.start, int32(c.number), number})
		if !s.active {
			list = append(list, edge{s.end, int32(c.number), -number})
		}
	}
	return byTime(list)
}

// byTime sorts edges, by the digits of their times from the last to the first:
// in time that grows as their number.
func byTime(list []edge) []edge {
	const digit = 11
	if len(list) == 0 {
		return nil
	}
	least, most := list[0].at, list[0].at
	for n := range list {
		least, most = min(least, list[n].at), max(most, list[n].at)
	}
	sorted := make([]edge, len(list))
	for shift := 0; (most-least)>>shift > 0; shift += digit {
		var places [1 << digit]int
		for n := range list {
			places[(list[n].at-least)>>shift&(1<<digit-1)]++
		}
		place := 0
		for n, count := range places {
			places[n], place = place, place+count
		}
		for n := range list {
			at := &places[(list[n].at-least)>>shift&(1<<digit-1)]
			sorted[*at] = list[n]
			*at++
		}
		list, sorted = sorted, list
	}
	return list
}

// The finest part of a GPU that a sweep tells apart, and the most such parts
// that one pod is taken to hold: the sum of a million pods fits into 63 bits.
const (
	finest = 1 << 24
	hugest = 1 << 43
)

// inParts writes rates as whole numbers of one part of a GPU, and says how many
// such parts are a GPU. Where the rates have no common part that is coarse
// enough, they are rounded down to the finest.
func inParts(rates []rate) (scaled []int64, parts int64) {
	common := big.NewInt(1)
	for _, r := range rates {
		den := r.rat().Denom()
		shared := new(big.Int).GCD(nil, nil, common, den)
		common.Mul(common, new(big.Int).Quo(den, shared))
		if common.Cmp(big.NewInt(finest)) > 0 {
			common.SetInt64(finest)
			break
		}
	}
	scaled = make([]int64, len(rates))
	for n, r := range rates {
		of := new(big.Rat).Mul(r.rat(), new(big.Rat).SetInt(common))
		whole := new(big.Int).Quo(of.Num(), of.Denom())
		scaled[n] = hugest
		if whole.IsInt64() {
			scaled[n] = min(whole.Int64(), hugest)
		}
	}
	return scaled, common.Int64()
}
