package meter

import (
	"cmp"
	"maps"
	"math/big"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Breakdown adds up what single pods used by what they have in common, such as their
// namespace. Zero is of no pods.
type Breakdown struct{ parts map[string]*Part }

// Part is what some pods used together.
type Part struct {
	Name        string
	Pods        int
	Active      int   // hold GPUs, on nodes that were seen
	Consumed    int64 // inside the window
	Estimated   int64 // of Consumed
	Unconfirmed int64 // in addition to Consumed
	burn        big.Rat
}

// BurnRate is how many GPUs the active pods hold, in milli-GPUs.
func (p *Part) BurnRate() int64 {
	return roundRat(new(big.Rat).Mul(&p.burn, big.NewRat(1000, 1)))
}

// Add takes up what one pod used.
func (b *Breakdown) Add(name string, r *ledger.Record, used PodUsage) {
	if b.parts == nil {
		b.parts = map[string]*Part{}
	}
	p := b.parts[name]
	if p == nil {
		p = &Part{Name: name}
		b.parts[name] = p
	}
	p.Pods++
	p.Consumed = plus(p.Consumed, used.Consumed)
	p.Estimated = plus(p.Estimated, used.Estimated)
	p.Unconfirmed = plus(p.Unconfirmed, used.Unconfirmed)
	if used.Active && (r.Allocation == nil || r.Allocation.Shown > 0) {
		p.Active++
		p.burn.Add(&p.burn, used.GPUs)
	}
}

// Parts are those that used most first.
func (b *Breakdown) Parts() []*Part {
	return slices.SortedFunc(maps.Values(b.parts), func(x, y *Part) int {
		return cmp.Or(cmp.Compare(y.Consumed, x.Consumed), cmp.Compare(x.Name, y.Name))
	})
}
