package ledger

import (
	"math/big"
	"slices"
	"strings"
)

// decoded are the rows of one document, with their UIDs and names.
type decoded struct {
	rows        []row
	uids, names []string
}

// minRecord is how many bytes a record takes at least: one in each column.
const minRecord = 16

// decodeRecords reads the body of a shard. What its records have in common is
// taken up at once, the records themselves only by who asked.
func (c *commons) decodeRecords(body []byte) (decoded, error) {
	r := &reader{b: body}
	n := r.count(minRecord)
	t := c.decodeTables(r)
	d := decoded{rows: make([]row, n), uids: decodeUIDs(r, n)}
	names := make([]uint64, n)
	for i := range names {
		names[i] = r.number()
	}
	d.names = make([]string, n)
	for i := range names {
		d.names[i] = string(r.bytes(int(min(names[i]>>1, maxText+1))))
	}
	sets, owners := r.numbers(n, len(t.sets)), r.numbers(n, len(t.owners))
	holdings, places := r.numbers(n, len(t.holdings)), r.numbers(n, len(t.places))
	sources := [3][]uint32{r.numbers(n, len(t.texts)), r.numbers(n, len(t.texts)), r.numbers(n, len(t.texts))}
	times := decodeTimes(r, n)
	if r.err != nil || len(r.b) > 0 {
		return decoded{}, errBody
	}
	startRanks, endRanks := ranks(t.texts, starts), ranks(t.texts, ends)
	for i := range d.rows {
		to := &d.rows[i]
		*to = times[i]
		to.set, to.owner, to.held, to.place = t.sets[sets[i]], t.owners[owners[i]], t.holdings[holdings[i]], t.places[places[i]]
		to.startRank, to.runsRank, to.endRank = startRanks[sources[0][i]], startRanks[sources[1][i]], endRanks[sources[2][i]]
		if names[i]&1 == 1 {
			if to.owner == none || len(c.owners.values[to.owner].Name) > maxText {
				return decoded{}, errBody
			}
			d.names[i] = c.owners.values[to.owner].Name + d.names[i]
		}
		if !to.possible(d.uids[i], d.names[i]) {
			return decoded{}, errBody
		}
	}
	return d, nil
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

// possible says whether a row is what a record can be.
func (r *row) possible(uid, name string) bool {
	if r.startRank == unknownRank || r.runsRank == unknownRank || r.endRank == unknownRank {
		return false
	}
	made := Record{
		UID: uid, Name: name, Seen: r.seen, PlaceSeen: r.sat, Deletion: r.deletion,
		Start: Start{r.start, starts[r.startRank]}, Runs: Start{r.runs, starts[r.runsRank]},
		End: End{r.earliest, r.end, ends[r.endRank]},
	}
	return made.intervalProblem() == "" && (r.end != 0) == (r.endRank != openRank) && (r.runs != 0) == (r.runsRank != 0)
}

// decodedTables are what records have in common, by its number in the ledger.
type decodedTables struct {
	texts                          []string
	sets, owners, holdings, places []uint32
}

func (c *commons) decodeTables(r *reader) (t decodedTables) {
	t.texts = decodeTexts(r)
	text := func() string {
		if n := r.below(len(t.texts)); r.err == nil {
			return t.texts[n]
		}
		return ""
	}
	lists := make([]Labels, 1+r.count(1)) // the first is none
	for n := range lists[1:] {
		if l := decodeLabels(r, text); r.err == nil {
			lists[n+1] = c.list(l)
		}
	}
	t.sets = make([]uint32, r.count(3))
	for n := range t.sets {
		s := LabelSet{Namespace: text(), NamespaceLabels: lists[r.below(len(lists))], Labels: decodeLabels(r, text)}
		if r.err == nil {
			t.sets[n] = c.set(&s)
		}
	}
	t.owners = make([]uint32, 1+r.count(4))
	t.owners[0] = none
	for n := range t.owners[1:] {
		o := Owner{UID: text(), Name: text(), Kind: text(), APIVersion: text()}
		if r.err == nil {
			t.owners[n+1] = c.owner(&o)
		}
	}
	t.holdings = make([]uint32, r.count(1))
	for n := range t.holdings {
		if h := decodeHolding(r, text); r.err == nil {
			t.holdings[n] = c.holding(h)
		}
	}
	t.places = make([]uint32, r.count(5))
	for n := range t.places {
		p := Place{Node: text(), Model: text(), InstanceType: text(), InstanceID: text(), SpotPool: text()}
		if r.err == nil {
			t.places[n] = c.place(&p)
		}
	}
	return t
}

func decodeTexts(r *reader) []string {
	lengths := make([]int, r.count(1))
	for n := range lengths {
		lengths[n] = r.below(maxBody)
	}
	texts := make([]string, len(lengths))
	for n, length := range lengths {
		texts[n] = string(r.bytes(length))
	}
	return texts
}

// decodeLabels reads labels; they must be in order.
func decodeLabels(r *reader, text func() string) Labels {
	l := make(Labels, r.count(2))
	for n := range l {
		l[n] = Label{text(), text()}
		if n > 0 && l[n].Key <= l[n-1].Key {
			r.fail()
			return nil
		}
	}
	return l
}

func decodeHolding(r *reader, text func() string) *Holding {
	h := &Holding{Shares: make([]Share, r.count(3))}
	for n := range h.Shares {
		share := &h.Shares[n]
		share.Resource = text()
		share.Units, share.Weight = rational(text()), rational(text())
	}
	if h.problem() != "" {
		r.fail()
	}
	return h
}

// rational reads what RatString writes of numbers from 0; nil of anything else.
// big.Rat itself would also take exponents, and could be made to fill the memory.
func rational(s string) *big.Rat {
	const maxDigits = 80 // of maxBits
	numerator, denominator, divided := strings.Cut(s, "/")
	if !divided {
		denominator = "1"
	}
	var parts [2]*big.Int
	for n, digits := range [...]string{numerator, denominator} {
		if digits == "" || len(digits) > maxDigits || strings.Trim(digits, "0123456789") != "" {
			return nil
		}
		parts[n], _ = new(big.Int).SetString(digits, 10)
	}
	if parts[1].Sign() == 0 {
		return nil
	}
	return new(big.Rat).SetFrac(parts[0], parts[1])
}

func decodeUIDs(r *reader, n int) []string {
	uids := make([]string, n)
	var text [uuidLength]byte
	for i := range uids {
		length := r.below(maxText + 1)
		if length > 0 {
			uids[i] = string(r.bytes(length))
			continue
		}
		if packed := r.bytes(16); packed != nil {
			unpackUUID(packed, &text)
			uids[i] = string(text[:])
		}
	}
	return uids
}

// decodeTimes reads the times of records.
func decodeTimes(r *reader, n int) []row {
	rows := make([]row, n)
	column := func(set func(to, before *row, distance Time, there bool)) {
		before := new(row)
		for i, distance := range r.column(n) {
			set(&rows[i], before, Time(distance), distance != absent)
			before = &rows[i]
			if r.err != nil {
				return
			}
		}
	}
	relative := func(of func(*row) *Time) {
		column(func(to, _ *row, distance Time, there bool) {
			if there {
				*of(to) = to.start + distance
			}
		})
	}
	column(func(to, before *row, distance Time, there bool) { to.start = sum(before.start, distance, there) })
	column(func(to, before *row, distance Time, there bool) { to.seen = sum(before.seen, distance, there) })
	column(func(to, _ *row, distance Time, there bool) { to.sat = sum(to.seen, distance, there) })
	relative(func(to *row) *Time { return &to.runs })
	relative(func(to *row) *Time { return &to.end })
	column(func(to, _ *row, distance Time, there bool) {
		switch {
		case !there:
		case to.end == 0:
			to.earliest = to.start + distance
		default:
			to.earliest = to.end + distance
		}
	})
	relative(func(to *row) *Time { return &to.deletion })
	return rows
}

// sum adds a distance; what leaves the range of times is none, which no record
// can have there.
func sum(from, distance Time, there bool) Time {
	if at := from + distance; there && at > 0 && at <= lastMoment {
		return at
	}
	return 0
}
