package ledger

import "github.com/gpupool/terraform-provider-gpupool/internal/ledger/packed"

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

func (r *compact) uid() packed.Text { return packed.Text{At: r.uidAt, Length: r.uidLength} }

func (r *compact) name() packed.Text { return packed.Text{At: r.nameAt, Length: r.nameLength} }

func (r *compact) call(uid, name packed.Text) {
	r.uidAt, r.uidLength, r.nameAt, r.nameLength = uid.At, uid.Length, name.At, name.Length
}
