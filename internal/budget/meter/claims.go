package meter

import (
	"cmp"
	"iter"
	"math"
	"math/big"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Claims are devices that several pods may hold. At each moment a claim is divided among the pods that hold
// it then. Each has what it requested, or proportionally less if together they requested more than exists.
// Pods hold a claim from when they are scheduled until their ends, whatever part of that a budget counts. So
// the order of observation makes no difference, and nothing is counted twice.
type Claims struct {
	pods    map[string]bool // who holds any, by UID
	demands map[string]*demand
}

// ClaimsOf finds what pods hold by claims.
func ClaimsOf(records iter.Seq[*ledger.Record]) *Claims {
	c := newClaims()
	for r := range records {
		c.add(r)
	}
	c.settle()
	return c
}

func newClaims() *Claims { return &Claims{pods: map[string]bool{}, demands: map[string]*demand{}} }

// isShared reports whether some of what the pod holds is held by a claim.
func isShared(r *ledger.Record) bool { return r.Allocation != nil && r.Allocation.Shared() }

// demand is how much of a claim the pods that hold it requested together, and since when. It depends on the
// policy for estimated ends.
type demand struct {
	changes map[ledger.EndEstimate][]change // until all are known
	levels  map[ledger.EndEstimate][]level
	// divided says that they asked for more than the whole, and doubtful that some
	// pod's end is estimated.
	divided, doubtful bool
}

// change is the increase of the requested amount at a moment.
type change struct {
	at ledger.Time
	by *big.Rat
}

// level is the requested amount from a moment on: one is the whole claim.
type level struct {
	from  ledger.Time
	asked *big.Rat
}

// add takes up what a pod holds by claims, if anything.
func (c *Claims) add(r *ledger.Record) {
	if !isShared(r) {
		return
	}
	c.pods[r.UID] = true
	for n, share := range r.Allocation.Shares {
		if share.Claim == "" || slices.ContainsFunc(r.Allocation.Shares[:n], func(before ledger.Share) bool { return before.Claim == share.Claim }) {
			continue
		}
		d := c.demands[share.Claim]
		if d == nil {
			d = &demand{changes: map[ledger.EndEstimate][]change{}, levels: map[ledger.EndEstimate][]level{}}
			c.demands[share.Claim] = d
		}
		d.doubtful = d.doubtful || r.End.Estimated()
		more := share.Asked()
		less := new(big.Rat).Neg(more)
		for _, policy := range []ledger.EndEstimate{ledger.EstimateEarliest, ledger.EstimateMidpoint, ledger.EstimateLatest} {
			if end := r.End.Point(policy); r.Open() {
				d.changes[policy] = append(d.changes[policy], change{r.Start.At, more})
			} else if end > r.Start.At {
				d.changes[policy] = append(d.changes[policy], change{r.Start.At, more}, change{end, less})
			}
		}
	}
}

// settle turns changes into levels.
func (c *Claims) settle() {
	for _, d := range c.demands {
		d.settle()
	}
}

func (d *demand) settle() {
	for policy, changes := range d.changes {
		slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
		sum, levels := new(big.Rat), make([]level, 0, len(changes))
		for i, c := range changes {
			sum.Add(sum, c.by)
			if i+1 < len(changes) && changes[i+1].at == c.at {
				continue
			}
			levels = append(levels, level{c.at, new(big.Rat).Set(sum)})
			d.divided = d.divided || sum.Cmp(ratOne) > 0
		}
		d.levels[policy] = slices.CompactFunc(levels, func(a, b level) bool { return a.asked.Cmp(b.asked) == 0 })
	}
	d.changes = nil
}

// divides reports whether of anything that a pod holds more was ever asked for at the
// same time than there is.
func (c *Claims) divides(a *ledger.Allocation) bool {
	if c == nil || len(c.demands) == 0 {
		return false
	}
	return slices.ContainsFunc(a.Shares, func(share ledger.Share) bool {
		d := c.demands[share.Claim]
		return d != nil && d.divided
	})
}

// doubts reports whether it is estimated until when some pod held a claim.
func (c *Claims) doubts(claim string) bool {
	return c != nil && c.demands[claim] != nil && c.demands[claim].doubtful
}

// never is after all moments.
const never ledger.Time = math.MaxInt64

// at returns the requested amount of a claim at a moment, and until when it stays.
func (c *Claims) at(claim string, policy ledger.EndEstimate, at ledger.Time) (asked *big.Rat, until ledger.Time) {
	asked, until = ratZero, never
	if c == nil || c.demands[claim] == nil {
		return asked, until
	}
	levels := c.demands[claim].levels[policy]
	n, found := slices.BinarySearchFunc(levels, at, func(l level, at ledger.Time) int { return cmp.Compare(l.from, at) })
	if found {
		n++
	}
	if n < len(levels) {
		until = levels[n].from
	}
	if n > 0 {
		asked = levels[n-1].asked
	}
	return asked, until
}
