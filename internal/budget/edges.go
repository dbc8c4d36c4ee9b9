package budget

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// edge is where an interval begins or ends: the rate of its class rises or falls.
type edge struct {
	at     ledger.Time
	class  int32
	change int32 // the rate's number; below zero at an end
}

// edges gathers, in the order of time, where intervals begin and end of those
// classes that a valuation's sweeps ask for. What nothing bears out crosses no limit.
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
		if !asked[c.number] || isShared(r) {
			continue
		}
		s, ok := v.stretch(r, e.now)
		if !ok || s.unshown || !s.active && s.end <= s.start {
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
	for n := range e.sharers.records {
		r := &e.sharers.records[n]
		if c := e.classes.of(setOf(r)); asked[c.number] {
			list = append(list, e.edgesOfParts(r, v, int32(c.number))...)
		}
	}
	return byTime(list)
}

// edgesOfParts are those of a record that holds by claims.
func (e *evaluation) edgesOfParts(r *ledger.Record, v *valuer, class int32) []edge {
	s, ok := v.stretch(r, e.now)
	if !ok || s.unshown || v.rate(r) == 0 {
		return nil
	}
	p := v.parts(r, s, e.sharers)
	var list []edge
	for n, piece := range p.counted {
		list = append(list, edge{piece.from, class, piece.rate})
		if !p.active || n+1 < len(p.counted) {
			list = append(list, edge{piece.to, class, -piece.rate})
		}
	}
	return list
}

// byTime sorts edges in place: first into buckets of nearby times, and then each
// bucket. A bucket fits into a processor's cache, and all of them do not.
func byTime(list []edge) []edge {
	const bits = 11
	if len(list) == 0 {
		return nil
	}
	least, most := list[0].at, list[0].at
	for n := range list {
		least, most = min(least, list[n].at), max(most, list[n].at)
	}
	shift := 0
	for (most-least)>>shift >= 1<<bits {
		shift++
	}
	var ends, next [1 << bits]int
	for n := range list {
		ends[(list[n].at-least)>>shift]++
	}
	sum := 0
	for bucket, count := range ends {
		next[bucket] = sum
		sum += count
		ends[bucket] = sum
	}
	begin := 0
	for bucket, end := range ends {
		for next[bucket] < end {
			n := next[bucket]
			home := (list[n].at - least) >> shift
			list[n], list[next[home]] = list[next[home]], list[n]
			next[home]++
		}
		slices.SortFunc(list[begin:end], func(a, b edge) int { return cmp.Compare(a.at, b.at) })
		begin = end
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
