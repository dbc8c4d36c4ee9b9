package meter

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// recovers finds when a budget that is exceeded falls below its limit with no more
// use: as if all that holds GPUs ended now. In a calendar period that is its end. A
// grant that ends before lowers the limit that counts.
func (e *evaluation) recovers(a *account) time.Time {
	if !a.meter.window.Rolling {
		return a.meter.window.End
	}
	at := e.fallsBelow(a, a.limit)
	for _, fall := range a.falls {
		if at.Before(fall.At) {
			break
		}
		at = e.fallsBelow(a, fall.Limit)
	}
	return at
}

// fallsBelow finds when the usage of a rolling window falls below a limit.
//
// From now on, only the begin of such a window moves, and usage falls with it. A binary search finds where it
// has to be, with intervals rounded one by one as in Evaluate. Pieces after all remaining places are added up
// once, and pieces before them are dropped. So each step reads little more than what the begin may still cut.
func (e *evaluation) fallsBelow(a *account, limit int64) time.Time {
	m := a.meter
	amount := func(p piece, from ledger.Time) int64 {
		return m.rules.rates[p.rate].amount(int64(p.to - max(p.from, from)))
	}
	cut, beyond := e.piecesOf(a), int64(0)
	exceeded, below := m.begin, m.now // with the begin there
	for below-exceeded > 1 {
		middle := exceeded + (below-exceeded)/2
		used := beyond
		for _, p := range cut {
			used = plus(used, amount(p, middle))
		}
		if used >= limit {
			exceeded = middle
		} else {
			below = middle
		}
		left := cut[:0]
		for _, p := range cut {
			switch {
			case p.to <= exceeded:
			case p.from >= below:
				beyond = plus(beyond, amount(p, p.from))
			default:
				left = append(left, p)
			}
		}
		cut = left
	}
	return (below + m.rolling()).Time()
}

// piecesOf are what a budget uses inside its window, in pieces that are rounded one by one. Unconfirmed usage
// reaches no limit.
func (e *evaluation) piecesOf(a *account) []piece {
	pieces, begin := e.pieces[:0], a.meter.begin
	for _, s := range a.sets {
		for n := range s.intervals {
			c, counts := a.meter.count(&s.intervals[n], begin)
			switch {
			case !counts || c.unconfirmed:
			case c.divided == nil:
				pieces = append(pieces, piece{c.start, c.end, c.rate})
			default:
				for _, p := range c.divided.counted {
					pieces = append(pieces, piece{p.from, min(p.to, c.end), p.rate})
				}
			}
		}
	}
	e.pieces = pieces
	return pieces
}
