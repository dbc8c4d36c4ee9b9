package budget

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// interval is what of a record decides what it uses. A million of them are kept at
// a time, and so a record itself is not.
type interval struct {
	start, runs   ledger.Time
	earliest, end ledger.Time // of its end, as in ledger.End
	held          int32       // the number of its holding
}

// cards are what a pod held, and what its place says of their worth.
type cards struct {
	held                *ledger.Holding
	model, instanceType string
}

// holdings numbers the distinct holdings, of which there are few.
type holdings struct {
	list    []cards
	numbers map[cards]int32
}

func newHoldings() *holdings { return &holdings{numbers: map[cards]int32{}} }

func (h *holdings) intervalOf(r *ledger.Record) interval {
	what := cards{held: r.Held}
	if r.Place != nil {
		what.model, what.instanceType = r.Place.Model, r.Place.InstanceType
	}
	number, known := h.numbers[what]
	if !known {
		number = int32(len(h.list))
		h.list = append(h.list, what)
		h.numbers[what] = number
	}
	return interval{start: r.Start.At, runs: r.Runs.At, earliest: r.End.Earliest, end: r.End.At, held: number}
}

// read sorts the records by their label sets. It takes two walks: the first counts
// them and gathers the claims, by which the second knows what is shared.
func (e *evaluation) read() {
	selected := 0
	for r := range e.records {
		e.claims.add(r)
		s := e.sets.of(r)
		s.count++
		if len(s.accounts) > 0 {
			selected++
		}
	}
	e.claims.settle()
	room := make([]interval, selected)
	for r := range e.records {
		i := e.holdings.intervalOf(r)
		e.gaps.add(&i)
		s := e.sets.of(r)
		if len(s.accounts) == 0 {
			continue
		}
		if s.intervals == nil {
			s.intervals, room = room[:0:s.count], room[s.count:]
		}
		s.intervals = append(s.intervals, i)
	}
	e.gaps.settle()
}
