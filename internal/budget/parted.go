package budget

import (
	"encoding/binary"
	"math/big"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// parted is the interval of a pod that holds by claims: the rate at which it uses
// changes with who else holds them.
type parted struct {
	stretch
	// counted are the pieces that count. Those of an active interval go on behind
	// its end: the last one's rate is the present.
	counted []piece
	// sure says that no end is estimated, its own or another's. Else least and most
	// are the pieces where such ends lie so that least or most is left to this pod.
	sure        bool
	least, most []piece
	rates       []rate // by number
}

// piece is a part of an interval in which the rate stays.
type piece struct {
	from, to ledger.Time
	rate     int32
}

// divider finds what is a pod's part of what it holds.
type divider struct {
	valuer  *valuer
	sharers *Sharers
	alone   *big.Rat // GPUs that are its own
	claims  []claimed
	known   map[string]int32 // rates, by what is asked for of each claim
	key     []byte
}

// claimed is what a pod asked for of a claim.
type claimed struct {
	claim string
	gpus  *big.Rat // if no other held it
	asked *big.Rat // of the whole
	sum   int      // the number of what all of them ask for
}

func (v *valuer) divider(r *ledger.Record, sharers *Sharers) *divider {
	d := &divider{valuer: v, sharers: sharers, alone: new(big.Rat), known: map[string]int32{}}
	model := v.model(r.Place)
	for n := range r.Held.Shares {
		s := &r.Held.Shares[n]
		gpus := v.share(s)
		if model != nil {
			gpus.Mul(gpus, model)
		}
		if s.Claim == "" {
			d.alone.Add(d.alone, gpus)
		} else {
			d.claims = append(d.claims, claimed{claim: s.Claim, gpus: gpus, asked: s.Asked()})
		}
	}
	return d
}

// rate is the number of the rate at a moment, and until when it stays. Beside is for
// a pod that is not among those who are known to hold the claims.
func (d *divider) rate(place int, at ledger.Time, beside bool) (number int32, until ledger.Time) {
	d.key, until = append(d.key[:0], 0), never
	if beside {
		d.key[0] = 1
	}
	for n := range d.claims {
		sum, changes := d.sharers.at(d.claims[n].claim, place, at)
		until = min(until, changes)
		d.claims[n].sum = sum
		d.key = binary.AppendVarint(d.key, int64(sum))
	}
	number, known := d.known[string(d.key)]
	if !known {
		gpus := new(big.Rat).Set(d.alone)
		for n := range d.claims {
			gpus.Add(gpus, d.part(&d.claims[n], beside))
		}
		number = d.valuer.number(gpus)
		d.known[string(d.key)] = number
	}
	return number, until
}

// part is what the pod has of a claim: what it asked for, as long as all of them
// together ask for no more than there is.
func (d *divider) part(c *claimed, beside bool) *big.Rat {
	asked := d.sharers.asked(c.claim, c.sum)
	if beside {
		asked = new(big.Rat).Add(asked, c.asked)
	}
	if asked.Cmp(whole) <= 0 {
		return c.gpus
	}
	return new(big.Rat).Quo(c.gpus, asked)
}

// pieces cuts a time where the rate changes.
func (d *divider) pieces(pieces []piece, place int, from, to ledger.Time, beside bool) []piece {
	for at := from; at < to; {
		number, until := d.rate(place, at, beside)
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

// parts cuts an interval where those change who share what it holds.
func (v *valuer) parts(r *ledger.Record, s stretch, sharers *Sharers) parted {
	d := v.divider(r, sharers)
	first, last := placeOf(ledger.AtLastRun), placeOf(ledger.AtNow)
	end := s.end
	if s.active {
		end++
	}
	p := parted{stretch: s, sure: s.certain() && !slices.ContainsFunc(d.claims, func(c claimed) bool { return sharers.doubts(c.claim) })}
	p.counted = d.pieces(nil, placeOf(v.vanished), s.start, end, false)
	if p.sure {
		p.rates = v.rates
		return p
	}
	p.least = d.pieces(nil, last, s.start, s.least, false)
	// Behind its earliest end it is not among those who hold for certain.
	p.most = d.pieces(nil, first, s.start, s.least, false)
	p.most = d.pieces(p.most, first, s.least, s.most, true)
	p.rates = v.rates
	return p
}

// last is the present rate of an active interval, and the last one of others.
func (p *parted) last() int32 {
	pieces := p.counted
	if len(pieces) == 0 {
		pieces = p.most
	}
	return pieces[len(pieces)-1].rate
}

// within is what the interval uses after a moment. Each piece is rounded once.
func (p *parted) within(from ledger.Time) portion {
	used := portion{consumed: p.sum(p.counted, from)}
	if p.sure {
		return used
	}
	least, most := p.sum(p.least, from), p.sum(p.most, from)
	used.estimated = max(0, used.consumed-least)
	used.bound = max(used.estimated, most-used.consumed)
	if p.unshown {
		used.unshown = used.consumed
	}
	return used
}

func (p *parted) sum(pieces []piece, from ledger.Time) int64 {
	total := int64(0)
	for _, piece := range pieces {
		to := piece.to
		if p.active {
			to = min(to, p.end)
		}
		total = plus(total, p.rates[piece.rate].amount(int64(to-max(piece.from, from))))
	}
	return total
}
