package budget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// evict plans the evictions of this run: of all pods that burn, as many as one
// run may evict; the others stand by for those that are blocked.
func (d *decider) evict() {
	d.evictWaiting()
	victims := d.victims("eviction")
	if len(victims) == 0 {
		return
	}
	d.sortVictims(victims)
	because := d.because()
	order := d.Declaration.Enforce.VictimOrder
	for n, p := range victims {
		rank := &Rank{Number: n + 1, Of: len(victims), Order: order, Why: p.rank(order)}
		decision := Decision{
			Kind: KindEvict, Object: d.Declaration.Object(), Pod: &p, Rank: rank, Reasons: append(slices.Clone(because), rank.String()),
		}
		if n < d.Declaration.Enforce.MaxEvictionsPerRun {
			d.plan.Decisions = append(d.plan.Decisions, decision)
		} else {
			d.plan.Reserves = append(d.plan.Reserves, decision)
		}
	}
}

// Rank is where a victim stands among the others.
type Rank struct {
	Number, Of int
	Order      VictimOrder
	Why        string // what places it there
}

// String says it as a reason.
func (r Rank) String() string {
	return fmt.Sprintf("it is number %d of %d by %s: %s", r.Number, r.Of, r.Order, r.Why)
}

// rank says what places a pod in an order.
func (p Pod) rank(order VictimOrder) string {
	holds := "it holds " + gpus(p.MilliGPUs) + " since " + stamp(p.Scheduled.At.Time())
	switch {
	case order == SpotFirst && p.Spot:
		return "it runs on a spot instance, " + holds
	case order == SpotFirst || order == LowestPriority:
		return fmt.Sprintf("its priority is %d, %s", p.Priority, holds)
	}
	return holds
}

// sortVictims sorts victims, the first to go first. Where the order leaves it open, the
// lower priority goes first, then the newer start, which loses the least work.
func (d *decider) sortVictims(victims []Pod) {
	from := ledger.TimeOf(d.usage.WindowStart)
	used := func(p Pod) wide {
		return product(p.MilliGPUs, int64(max(0, ledger.TimeOf(d.Now)-max(p.Scheduled.At, from))))
	}
	first := func(a, b Pod) int {
		switch d.Declaration.Enforce.VictimOrder {
		case NewestStart:
			return cmp.Compare(b.Scheduled.At, a.Scheduled.At)
		case SpotFirst:
			return cmp.Compare(lastIf(!a.Spot), lastIf(!b.Spot))
		case LargestUsage:
			return cmp.Compare(lastIf(used(a).below(used(b))), lastIf(used(b).below(used(a))))
		}
		return 0
	}
	slices.SortFunc(victims, func(a, b Pod) int {
		return cmp.Or(first(a, b), cmp.Compare(a.Priority, b.Priority), cmp.Compare(b.Scheduled.At, a.Scheduled.At),
			strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.UID, b.UID))
	})
}

// lastIf sorts what is last after the rest: it is 0 for false and 1 for true.
func lastIf(last bool) int {
	if last {
		return 1
	}
	return 0
}
