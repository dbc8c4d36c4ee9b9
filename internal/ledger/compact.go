package ledger

import "github.com/gpupool/terraform-provider-gpupool/internal/ledger/packed"

// compact is a record in 84 bytes without pointers, so that a million records use little memory and
// cost the garbage collector nothing.
type compact struct {
	uidAt, nameAt                                                         uint32 // in the texts
	set, owner, allocation, place                                         uint32
	start, runs, earliest, end, deletion, seen, placeSeen, allocationSeen moment
	uidLength, nameLength                                                 uint8
	startRank, runsRank, endRank                                          uint8
	// inClosed says that the document of its closed bin contains the record; inOpen that one of an
	// open bin does. Either may contain an older form. An open record is newer if its open document
	// is out of date or does not exist.
	inClosed, inOpen, newer bool
	dropped                 bool
}

const pageLength = 2048

// moment is a Time in 48 bits, the lowest first: enough until the year 9999.
type moment [3]uint16

func momentOf(t Time) moment { return moment{uint16(t), uint16(t >> 16), uint16(t >> 32)} }

func (m moment) time() Time { return Time(m[0]) | Time(m[1])<<16 | Time(m[2])<<32 }

// times are those of a compact record. The last three are when the pod, its place and its
// allocation were first observed.
type times struct{ start, runs, earliest, end, deletion, seen, placeSeen, allocationSeen Time }

func (r *compact) setTimes(t times) {
	r.start, r.runs, r.earliest, r.end = momentOf(t.start), momentOf(t.runs), momentOf(t.earliest), momentOf(t.end)
	r.deletion, r.seen, r.placeSeen, r.allocationSeen = momentOf(t.deletion), momentOf(t.seen), momentOf(t.placeSeen), momentOf(t.allocationSeen)
}

func (r *compact) uid() packed.Text { return packed.Text{At: r.uidAt, Length: r.uidLength} }

func (r *compact) name() packed.Text { return packed.Text{At: r.nameAt, Length: r.nameLength} }

func (r *compact) call(uid, name packed.Text) {
	r.uidAt, r.uidLength, r.nameAt, r.nameLength = uid.At, uid.Length, name.At, name.Length
}
