package ledger

// row is a record in 84 bytes without a pointer, so that a million of them are
// little, and nothing to the garbage collector.
type row struct {
	uidAt, nameAt                                         uint32 // in the texts
	set, owner, held, place                               uint32
	start, runs, earliest, end, deletion, seen, sat, bore moment
	uidLength, nameLength                                 uint8
	startRank, runsRank, endRank                          uint8
	// kept says that a document of its closed home has the record, and based that
	// one of an open home has it, each perhaps in an older form. Where a record
	// that is open is fresh, the latter is so, or there is none.
	kept, based, fresh bool
	dropped            bool
}

const pageRows = 2048

// moment is a Time in 48 bits, the lowest first: enough until the year 9999.
type moment [3]uint16

func momentOf(t Time) moment { return moment{uint16(t), uint16(t >> 16), uint16(t >> 32)} }

func (m moment) time() Time { return Time(m[0]) | Time(m[1])<<16 | Time(m[2])<<32 }

// times are those of a row.
// The last three are when the pod was first seen, and when its place and what it
// holds were.
type times struct{ start, runs, earliest, end, deletion, seen, sat, bore Time }

func (r *row) happen(t times) {
	r.start, r.runs, r.earliest, r.end = momentOf(t.start), momentOf(t.runs), momentOf(t.earliest), momentOf(t.end)
	r.deletion, r.seen, r.sat, r.bore = momentOf(t.deletion), momentOf(t.seen), momentOf(t.sat), momentOf(t.bore)
}

func (r *row) uid() text { return text{r.uidAt, r.uidLength} }

func (r *row) name() text { return text{r.nameAt, r.nameLength} }

func (r *row) call(uid, name text) {
	r.uidAt, r.uidLength, r.nameAt, r.nameLength = uid.at, uid.length, name.at, name.length
}

// write puts all but the texts of a record into its row.
func (l *Ledger) write(to *row, r *Record) {
	to.set, to.owner = l.commons.set(r.Set), l.commons.owner(r.Owner)
	to.held, to.place = l.commons.holding(r.Held), l.commons.place(r.Place)
	to.startRank, to.runsRank, to.endRank = uint8(startRank(r.Start.Source)), uint8(startRank(r.Runs.Source)), uint8(endRank(r.End.Source))
	to.happen(times{
		start: r.Start.At, runs: r.Runs.At, earliest: r.End.Earliest, end: r.End.At,
		deletion: r.Deletion, seen: r.Seen, sat: r.PlaceSeen, bore: r.HeldSeen,
	})
}

// read is the record of a row.
func (l *Ledger) read(from *row, r *Record) {
	*r = Record{
		UID: l.texts.get(from.uid()), Name: l.texts.get(from.name()), Seen: from.seen.time(),
		Set: l.commons.sets.values[from.set], Held: l.commons.holdings.values[from.held], HeldSeen: from.bore.time(),
		Place: l.commons.places.values[from.place], PlaceSeen: from.sat.time(),
		Start:    Start{from.start.time(), starts[from.startRank]},
		Runs:     Start{from.runs.time(), starts[from.runsRank]},
		End:      End{from.earliest.time(), from.end.time(), ends[from.endRank]},
		Deletion: from.deletion.time(),
	}
	if from.owner != none {
		r.Owner = l.commons.owners.values[from.owner]
	}
}
