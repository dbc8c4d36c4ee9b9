package ledger

import "slices"

// decoder reads the bodies of shards, one after the other. It keeps what that
// takes room for.
type decoder struct {
	commons *commons
	// rows, times, uids and names are those of the body last read, valid until the
	// next.
	rows        []row
	times       []times
	uids, names spans

	tables   decodedTables
	lengths  []uint64
	ownNames [][]byte
	numbers  [7][]uint32
	values   []int64
}

// spans are many short texts one after the other.
type spans struct {
	bytes []byte
	ends  []int
}

func (s *spans) get(n int) []byte {
	if n == 0 {
		return s.bytes[:s.ends[0]]
	}
	return s.bytes[s.ends[n-1]:s.ends[n]]
}

func (s *spans) end() { s.ends = append(s.ends, len(s.bytes)) }

func (s *spans) reset() { s.bytes, s.ends = s.bytes[:0], s.ends[:0] }

// sized is a list of a length, in the room of another where that is enough. Its
// values are whatever they were.
func sized[T any](list []T, length int) []T {
	return slices.Grow(list[:0], length)[:length]
}

// minRecord is how many bytes a record takes at least: one in each column, but for
// one that the first versions lack.
const minRecord = 16

// decode reads the body of a shard, as a version wrote it. What its records have in common is taken up
// at once, the records themselves only by who asked.
func (d *decoder) decode(body []byte, version int) error {
	r := &reader{b: body, version: version}
	n := r.count(minRecord)
	d.decodeTables(r, n)
	t := &d.tables
	d.decodeUIDs(r, n)
	d.lengths, d.ownNames = sized(d.lengths, n), sized(d.ownNames, n)
	for i := range d.lengths {
		d.lengths[i] = r.number()
	}
	for i := range d.ownNames {
		d.ownNames[i] = r.bytes(int(min(d.lengths[i]>>1, maxText+1)))
	}
	for i, limit := range []int{len(t.sets), len(t.owners), len(t.holdings), len(t.places), len(t.texts), len(t.texts), len(t.texts)} {
		d.numbers[i] = sized(d.numbers[i], n)
		for j := range d.numbers[i] {
			d.numbers[i][j] = uint32(r.below(limit))
		}
	}
	d.decodeTimes(r, n)
	if r.err != nil || len(r.b) > 0 {
		return errBody
	}
	d.names.reset()
	d.rows = sized(d.rows, n)
	clear(d.rows)
	startRanks, endRanks := ranks(t.texts, starts), ranks(t.texts, ends)
	for i := range d.rows {
		to, of := &d.rows[i], &d.numbers
		to.set, to.owner, to.held, to.place = t.sets[of[0][i]], t.owners[of[1][i]], t.holdings[of[2][i]], t.places[of[3][i]]
		to.startRank, to.runsRank, to.endRank = startRanks[of[4][i]], startRanks[of[5][i]], endRanks[of[6][i]]
		if d.lengths[i]&1 == 1 && !d.prefix(to.owner) {
			return errBody
		}
		d.names.bytes = append(d.names.bytes, d.ownNames[i]...)
		d.names.end()
		to.happen(d.times[i])
		if !to.possible(&d.times[i]) || len(d.uids.get(i)) == 0 || len(d.names.get(i)) > maxText {
			return errBody
		}
	}
	return nil
}

// prefix begins a name with the owner's.
func (d *decoder) prefix(owner uint32) bool {
	if owner == none || len(d.commons.owners.values[owner].Name) > maxText {
		return false
	}
	d.names.bytes = append(d.names.bytes, d.commons.owners.values[owner].Name...)
	return true
}

// unknownRank is that of a source that is none.
const unknownRank = 255

// ranks are the ranks of texts that are sources.
func ranks(texts []string, sources []Source) []uint8 {
	ranks := make([]uint8, len(texts))
	for n, s := range texts {
		ranks[n] = unknownRank
		if rank := slices.Index(sources, Source(s)); rank >= 0 {
			ranks[n] = uint8(rank)
		}
	}
	return ranks
}

// possible says whether a record can have these times, as they are known.
func (r *row) possible(at *times) bool {
	if r.startRank == unknownRank || r.runsRank == unknownRank || r.endRank == unknownRank {
		return false
	}
	made := Record{
		Seen: at.seen, PlaceSeen: at.sat, HeldSeen: at.bore, Deletion: at.deletion,
		Start: Start{at.start, starts[r.startRank]}, Runs: Start{at.runs, starts[r.runsRank]},
		End: End{at.earliest, at.end, ends[r.endRank]},
	}
	return made.intervalProblem() == "" && (at.end != 0) == (r.endRank != openRank) && (at.runs != 0) == (r.runsRank != 0)
}

func (d *decoder) decodeUIDs(r *reader, n int) {
	d.uids.reset()
	var text [uuidLength]byte
	for range n {
		if length := r.below(maxText + 1); length > 0 {
			d.uids.bytes = append(d.uids.bytes, r.bytes(length)...)
		} else if packed := r.bytes(16); packed != nil {
			unpackUUID(packed, &text)
			d.uids.bytes = append(d.uids.bytes, text[:]...)
		}
		d.uids.end()
	}
}

// decodeTimes reads the times of so many rows.
func (d *decoder) decodeTimes(r *reader, n int) {
	d.times, d.values = sized(d.times, n), sized(d.values, n)
	clear(d.times)
	column := func(set func(to, before *times, distance Time, there bool)) {
		r.column(d.values)
		if r.err != nil {
			return
		}
		before := new(times)
		for i, distance := range d.values {
			set(&d.times[i], before, Time(distance), distance != absent)
			before = &d.times[i]
		}
	}
	relative := func(of func(*times) *Time) {
		column(func(to, _ *times, distance Time, there bool) {
			if there {
				*of(to) = to.start + distance
			}
		})
	}
	column(func(to, before *times, distance Time, there bool) { to.start = sum(before.start, distance, there) })
	column(func(to, before *times, distance Time, there bool) { to.seen = sum(before.seen, distance, there) })
	column(func(to, _ *times, distance Time, there bool) { to.sat = sum(to.seen, distance, there) })
	if r.version > withoutNodes {
		column(func(to, _ *times, distance Time, there bool) { to.bore = sum(to.sat, distance, there) })
	} else {
		for i := range d.times {
			d.times[i].bore = d.times[i].seen
		}
	}
	relative(func(to *times) *Time { return &to.runs })
	relative(func(to *times) *Time { return &to.end })
	column(func(to, _ *times, distance Time, there bool) {
		switch {
		case !there:
		case to.end == 0:
			to.earliest = to.start + distance
		default:
			to.earliest = to.end + distance
		}
	})
	relative(func(to *times) *Time { return &to.deletion })
}

// sum adds a distance; what leaves the range of times is none, which no record
// can have there.
func sum(from, distance Time, there bool) Time {
	if at := from + distance; there && at > 0 && at <= lastMoment {
		return at
	}
	return 0
}
