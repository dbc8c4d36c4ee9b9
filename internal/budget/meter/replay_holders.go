package meter

import (
	"cmp"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// holders reports who used how much while the limit would have been exceeded. An interval that spans whole
// such times is noted only where they begin and end, because there may be as many times as intervals.
func (p *replay) holders(r *Replayed) {
	if len(r.Exceeded) == 0 {
		return
	}
	times := make([]piece, len(r.Exceeded))
	for n, of := range p.limit.spans {
		times[n] = piece{from: of.since, to: of.until}
		if of.until == 0 {
			times[n].to = p.now
		}
	}
	r.ByNamespace, r.ByLabel = map[string]int64{}, map[string]map[string]int64{}
	used := &spanned{times: times, partly: make([]wide, len(times)), change: make([]int64, len(times)+1)}
	var of *labelSet
	write := func() {
		if of != nil {
			p.charge(r, of, used)
		}
	}
	for set, c := range p.counted {
		if set != of {
			write()
			of = set
		}
		switch {
		case c.unconfirmed:
		case c.divided == nil:
			used.add(c.start, c.end, p.scaled[c.rate])
		default:
			for _, piece := range c.divided.counted {
				used.add(piece.from, min(piece.to, c.end), p.scaled[piece.rate])
			}
		}
	}
	write()
	p.shorten(r)
}

// spanned is what was used at some times, in order and without overlap.
type spanned struct {
	times  []piece
	partly []wide  // of what begins or ends in one of them
	change []int64 // of the rate that lasts through one of them, from the one before
}

// add takes up what is used at a rate for a time.
func (u *spanned) add(start, end ledger.Time, rate int64) {
	first, _ := slices.BinarySearchFunc(u.times, start, func(of piece, t ledger.Time) int { return cmp.Compare(of.to, t+1) })
	after, _ := slices.BinarySearchFunc(u.times, end, func(of piece, t ledger.Time) int { return cmp.Compare(of.from, t) })
	whole := func(n int) bool { return u.times[n].from >= start && u.times[n].to <= end }
	for ; first < after && !whole(first); first++ {
		u.part(first, start, end, rate)
	}
	for ; first < after && !whole(after-1); after-- {
		u.part(after-1, start, end, rate)
	}
	if first < after {
		u.change[first] += rate
		u.change[after] -= rate
	}
}

func (u *spanned) part(n int, start, end ledger.Time, rate int64) {
	u.partly[n] = u.partly[n].plus(product(rate, int64(max(0, min(end, u.times[n].to)-max(start, u.times[n].from)))))
}

// charge writes what the pods of a label set used, and leaves nothing of it behind.
func (p *replay) charge(r *Replayed, set *labelSet, used *spanned) {
	rate := int64(0)
	for n, of := range used.times {
		rate += used.change[n]
		amount := p.amount(used.partly[n].plus(product(rate, int64(of.to-of.from))))
		used.change[n], used.partly[n] = 0, wide{}
		if amount == 0 {
			continue
		}
		e := &r.Exceeded[n]
		if e.ByNamespace == nil {
			e.ByNamespace, e.ByLabel = map[string]int64{}, map[string]map[string]int64{}
		}
		charge(e.ByNamespace, set.Namespace, amount)
		charge(r.ByNamespace, set.Namespace, amount)
		for key := range p.account.byLabel {
			value := set.Labels.Get(key) // pods without the label are under ""
			for _, breakdown := range []map[string]map[string]int64{e.ByLabel, r.ByLabel} {
				if breakdown[key] == nil {
					breakdown[key] = map[string]int64{}
				}
				charge(breakdown[key], value, amount)
			}
		}
	}
	used.change[len(used.times)] = 0
}

func charge(amounts map[string]int64, key string, amount int64) {
	amounts[key] = plus(amounts[key], amount)
}

// shorten keeps the largest of each breakdown, as usage does.
func (p *replay) shorten(r *Replayed) {
	r.ByNamespace = largest(r.ByNamespace)
	for key := range r.ByLabel {
		r.ByLabel[key] = largest(r.ByLabel[key])
	}
	for n := range r.Exceeded {
		e := &r.Exceeded[n]
		e.ByNamespace = largest(e.ByNamespace)
		for key := range e.ByLabel {
			e.ByLabel[key] = largest(e.ByLabel[key])
		}
	}
}
