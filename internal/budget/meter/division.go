package meter

import (
	"math/big"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// divided is the interval of a pod that holds claims or whose allocation was corrected, cut at each change of
// its rate.
type divided struct {
	// counted are the pieces that count. Of an active interval the last one ends after
	// now, so that its rate is the present one.
	counted []piece
	// sure says that no end is estimated, neither its own nor that of another pod with
	// the claim. If one is, least and most are the pieces for the ends that leave the
	// least and the most to this pod.
	sure        bool
	least, most []piece
}

// piece is a part of an interval in which the rate stays.
type piece struct {
	from, to ledger.Time
	rate     int32
}

// divide cuts an interval where its rate changes.
func (m *Meter) divide(c *counted, i *interval) {
	d := m.divider(i.allocation)
	end := c.end
	if c.active {
		end++
	}
	p := &divided{sure: c.certain() && !d.doubtful()}
	p.counted = d.pieces(nil, m.rules.vanished, c.start, end, false)
	if !p.sure {
		p.least = d.pieces(nil, ledger.EstimateLatest, c.start, c.least, false)
		// After its earliest end the pod is not among those who certainly hold. One that nothing confirms is until
		// then, although none of its usage is certain.
		holds := c.most
		if i.earliest != 0 {
			holds = max(c.start, min(i.earliest, c.most))
		}
		p.most = d.pieces(nil, ledger.EstimateEarliest, c.start, holds, false)
		p.most = d.pieces(p.most, ledger.EstimateEarliest, holds, c.most, true)
	}
	c.divided = p
	if pieces := p.counted; len(pieces) > 0 {
		c.rate = pieces[len(pieces)-1].rate
	} else if len(p.most) > 0 {
		c.rate = p.most[len(p.most)-1].rate
	}
}

// dividedWithin is within for what is divided. Each piece is rounded once.
func (m *Meter) dividedWithin(c *counted, from ledger.Time) amounts {
	used := amounts{consumed: m.sum(c, c.divided.counted, from)}
	if c.divided.sure {
		return used
	}
	return used.between(m.sum(c, c.divided.least, from), m.sum(c, c.divided.most, from), c.unconfirmed)
}

func (m *Meter) sum(c *counted, pieces []piece, from ledger.Time) int64 {
	total := int64(0)
	for _, piece := range pieces {
		to := piece.to
		if c.active {
			to = min(to, c.end)
		}
		total = plus(total, m.rules.rates[piece.rate].amount(int64(to-max(piece.from, from))))
	}
	return total
}

// divider finds what is a pod's part of what it holds.
type divider struct {
	meter  *Meter
	alone  *big.Rat // GPUs that are its own
	claims []claimed
	// earlier applies before corrected; nil if nothing else does.
	earlier   *divider
	corrected ledger.Time
}

// claimed is what a pod requested of a claim.
type claimed struct {
	claim string
	gpus  *big.Rat // if no other held it
	asked *big.Rat // of the whole
}

func (m *Meter) divider(allocation int32) *divider {
	what := m.rules.allocations.list[allocation]
	d := m.dividerOf(what, what.allocation.Shares)
	if d.corrected = what.corrected; d.corrected != 0 {
		d.earlier = m.dividerOf(what, what.allocation.Earlier)
	}
	return d
}

func (m *Meter) dividerOf(what cards, shares []ledger.Share) *divider {
	d := &divider{meter: m, alone: new(big.Rat)}
	times := m.rules.model(what.model, what.instanceType)
	for n := range shares {
		s := &shares[n]
		gpus := m.rules.share(s)
		gpus.Mul(gpus, times)
		if s.Claim == "" {
			d.alone.Add(d.alone, gpus)
		} else {
			d.claims = append(d.claims, claimed{claim: s.Claim, gpus: gpus, asked: s.Asked()})
		}
	}
	return d
}

// doubtful reports whether the end of another pod that holds one of the claims is estimated.
func (d *divider) doubtful() bool {
	return d != nil && (d.earlier.doubtful() || slices.ContainsFunc(d.claims, func(c claimed) bool { return d.meter.claims.doubts(c.claim) }))
}

// rate is the number of the rate at a moment, and until when it stays. Set extra for a pod that is not among
// the known holders of the claims.
//
// A pod has what it requested, as long as all holders together request no more than exists.
func (d *divider) rate(policy ledger.EndEstimate, at ledger.Time, extra bool) (number int32, until ledger.Time) {
	if at < d.corrected {
		number, until = d.earlier.rate(policy, at, extra)
		return number, min(until, d.corrected)
	}
	gpus, until := new(big.Rat).Set(d.alone), never
	for _, c := range d.claims {
		asked, changes := d.meter.claims.at(c.claim, policy, at)
		until = min(until, changes)
		if extra {
			asked = new(big.Rat).Add(asked, c.asked)
		}
		part := c.gpus
		if asked.Cmp(ratOne) > 0 {
			part = new(big.Rat).Quo(part, asked)
		}
		gpus.Add(gpus, part)
	}
	return d.meter.rules.number(gpus), until
}

// pieces cuts a time where the rate changes.
func (d *divider) pieces(pieces []piece, policy ledger.EndEstimate, from, to ledger.Time, extra bool) []piece {
	for at := from; at < to; {
		number, until := d.rate(policy, at, extra)
		until = min(until, to)
		if last := len(pieces) - 1; last >= 0 && pieces[last].to == at && pieces[last].rate == number {
			pieces[last].to = until
		} else {
			pieces = append(pieces, piece{at, until, number})
		}
		at = until
	}
	return pieces
}
