package meter

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// interval has the fields of a record that determine its usage. A million of them are kept at
// a time, so the record itself is not kept.
type interval struct {
	start, runs   ledger.Time
	earliest, end ledger.Time // of its end, as in ledger.End
	allocation    int32       // its number among those of the evaluation
}

// cards are what a pod holds, and what its place says of their worth.
type cards struct {
	allocation          *ledger.Allocation
	model, instanceType string
	// corrected is when the allocation was first observed, if another one counts before that.
	corrected ledger.Time
}

// allocations numbers the distinct allocations, of which there are few.
type allocations struct {
	list    []cards
	numbers map[cards]int32
}

func newAllocations() *allocations { return &allocations{numbers: map[cards]int32{}} }

func (a *allocations) intervalOf(r *ledger.Record) interval {
	what := cards{allocation: r.Allocation}
	if r.Place != nil {
		what.model, what.instanceType = r.Place.Model, r.Place.InstanceType
	}
	if r.Allocation != nil && len(r.Allocation.Earlier) > 0 {
		what.corrected = r.AllocationSeen
	}
	number, known := a.numbers[what]
	if !known {
		number = int32(len(a.list))
		a.list = append(a.list, what)
		a.numbers[what] = number
	}
	return interval{start: r.Start.At, runs: r.Runs.At, earliest: r.End.Earliest, end: r.End.At, allocation: number}
}

// read sorts the records by their label sets. It takes two walks: the first counts
// them and gathers the claims, by which the second knows what is shared.
func (e *evaluation) read() {
	selected := 0
	for r := range e.records {
		e.claims.add(r)
		s := e.sets.recordSet(r)
		s.count++
		if len(s.accounts) > 0 {
			selected++
		}
	}
	e.claims.settle()
	room := make([]interval, selected)
	for r := range e.records {
		i := e.allocations.intervalOf(r)
		e.gaps.add(&i)
		s := e.sets.recordSet(r)
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
