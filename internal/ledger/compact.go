package ledger

// compact is a record in 84 bytes without a pointer, so that a million of them are
// little, and nothing to the garbage collector.
type compact struct {
	uidAt, nameAt                                                         uint32 // in the texts
	set, owner, allocation, place                                         uint32
	start, runs, earliest, end, deletion, seen, placeSeen, allocationSeen moment
	uidLength, nameLength                                                 uint8
	startRank, runsRank, endRank                                          uint8
	// inClosed says that a document of its closed bin has the record, and inOpen
	// that one of an open bin has it, each perhaps in an older form. An open record
	// is newer where that is so of the latter, or there is none.
	inClosed, inOpen, newer bool
	dropped                 bool
}

const pageLength = 2048

// moment is a Time in 48 bits, the lowest first: enough until the year 9999.
type moment [3]uint16

func momentOf(t Time) moment { return moment{uint16(t), uint16(t >> 16), uint16(t >> 32)} }

func (m moment) time() Time { return Time(m[0]) | Time(m[1])<<16 | Time(m[2])<<32 }

// times are those of a compact record.
// The last three are when the pod was first seen, and when its place and what it
// holds were.
type times struct{ start, runs, earliest, end, deletion, seen, placeSeen, allocationSeen Time }

func (r *compact) happen(t times) {
	r.start, r.runs, r.earliest, r.end = momentOf(t.start), momentOf(t.runs), momentOf(t.earliest), momentOf(t.end)
	r.deletion, r.seen, r.placeSeen, r.allocationSeen = momentOf(t.deletion), momentOf(t.seen), momentOf(t.placeSeen), momentOf(t.allocationSeen)
}

func (r *compact) uid() text { return text{r.uidAt, r.uidLength} }

func (r *compact) name() text { return text{r.nameAt, r.nameLength} }

func (r *compact) call(uid, name text) {
	r.uidAt, r.uidLength, r.nameAt, r.nameLength = uid.at, uid.length, name.at, name.length
}

// write makes a record compact, all but its texts.
func (l *Ledger) write(to *compact, r *Record) {
	to.set, to.owner = l.shared.set(r.Set), l.shared.owner(r.Owner)
	to.allocation, to.place = l.shared.allocation(r.Allocation), l.shared.place(r.Place)
	to.startRank, to.runsRank, to.endRank = uint8(startRank(r.Start.Source)), uint8(startRank(r.Runs.Source)), uint8(endRank(r.End.Source))
	to.happen(times{
		start: r.Start.At, runs: r.Runs.At, earliest: r.End.Earliest, end: r.End.At,
		deletion: r.Deletion, seen: r.Seen, placeSeen: r.PlaceSeen, allocationSeen: r.AllocationSeen,
	})
}

// read is the record that a compact one stands for.
func (l *Ledger) read(from *compact, r *Record) {
	*r = Record{
		UID: l.texts.get(from.uid()), Name: l.texts.get(from.name()), Seen: from.seen.time(),
		Set: l.shared.sets.values[from.set], Allocation: l.shared.allocations.values[from.allocation], AllocationSeen: from.allocationSeen.time(),
		Place: l.shared.places.values[from.place], PlaceSeen: from.placeSeen.time(),
		Start:    Start{from.start.time(), starts[from.startRank]},
		Runs:     Start{from.runs.time(), starts[from.runsRank]},
		End:      End{from.earliest.time(), from.end.time(), ends[from.endRank]},
		Deletion: from.deletion.time(),
	}
	if from.owner != none {
		r.Owner = l.shared.owners.values[from.owner]
	}
}
