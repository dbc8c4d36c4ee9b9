package ledger

import (
	"hash/maphash"
	"iter"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/packed"
)

// records are those of a ledger in little memory, by the UID of the pod.
type records struct {
	pages  [][]compact
	length int // records, including dropped ones
	count  int // records
	texts  packed.Texts
	uids   packed.Index
	shared shared
}

// Len returns the number of records.
func (l *records) Len() int { return l.count }

// All yields every record, in no particular order. A record is valid until the next one is yielded:
// copy it to keep it. The ledger must not change during the iteration.
func (l *records) All() iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		var r Record
		for _, page := range l.pages {
			for n := range page {
				if page[n].dropped {
					continue
				}
				l.read(&page[n], &r)
				if !yield(&r) {
					return
				}
			}
		}
	}
}

// Get returns the record of a pod.
func (l *records) Get(uid string) (Record, bool) {
	number, found := l.find(uid, l.hash(uid))
	if !found {
		return Record{}, false
	}
	return l.record(number), true
}

func (l *records) hash(uid string) uint64 { return maphash.String(l.shared.seed, uid) }

func (l *records) compact(number uint32) *compact {
	return &l.pages[number/pageLength][number%pageLength]
}

func (l *records) find(uid string, hash uint64) (uint32, bool) {
	return l.uids.Find(hash, func(number uint32) bool {
		r := l.compact(number)
		return !r.dropped && l.texts.Get(r.uid()) == uid
	})
}

func (l *records) record(number uint32) (r Record) {
	l.read(l.compact(number), &r)
	return r
}

// add adds a record of a new pod.
func (l *records) add(r *Record) {
	made := compact{newer: true}
	made.call(l.texts.Add(r.UID), l.texts.Add(r.Name))
	l.write(&made, r)
	l.append(made, l.hash(r.UID))
}

func (l *records) append(r compact, hash uint64) {
	if l.length%pageLength == 0 {
		l.pages = append(l.pages, make([]compact, 0, pageLength))
	}
	last := &l.pages[len(l.pages)-1]
	*last = append(*last, r)
	l.uids.Add(hash, uint32(l.length))
	l.length++
	l.count++
}

func (l *records) drop(r *compact) {
	r.dropped = true
	l.count--
}

// write encodes a record, except its texts.
func (l *records) write(to *compact, r *Record) {
	to.set, to.owner = l.shared.set(r.Set), l.shared.owner(r.Owner)
	to.allocation, to.place = l.shared.allocation(r.Allocation), l.shared.place(r.Place)
	to.startRank, to.runsRank, to.endRank = uint8(startRank(r.Start.Source)), uint8(startRank(r.Runs.Source)), uint8(endRank(r.End.Source))
	to.setTimes(times{
		start: r.Start.At, runs: r.Runs.At, earliest: r.End.Earliest, end: r.End.At,
		deletion: r.Deletion, seen: r.Seen, placeSeen: r.PlaceSeen, allocationSeen: r.AllocationSeen,
	})
}

// read decodes a record.
func (l *records) read(from *compact, r *Record) {
	*r = Record{
		UID: l.texts.Get(from.uid()), Name: l.texts.Get(from.name()), Seen: from.seen.time(),
		Set: l.shared.sets.Values[from.set], Allocation: l.shared.allocations.Values[from.allocation], AllocationSeen: from.allocationSeen.time(),
		Place: l.shared.places.Values[from.place], PlaceSeen: from.placeSeen.time(),
		Start:    Start{from.start.time(), starts[from.startRank]},
		Runs:     Start{from.runs.time(), starts[from.runsRank]},
		End:      End{from.earliest.time(), from.end.time(), ends[from.endRank]},
		Deletion: from.deletion.time(),
	}
	if from.owner != none {
		r.Owner = l.shared.owners.Values[from.owner]
	}
}
