package ledger

import (
	"encoding/binary"
	"slices"
)

// decoder reads documents of records, one after the other.
type decoder struct {
	shared *shared
	*table
	// sets, owners, allocations and places are the numbers of what was found in the
	// document at hand, by the codes of its columns.
	sets, owners, allocations, places map[string]uint32
	key                               []byte
	starts, runs, ends                []uint8 // ranks of sources, by their codes
	// records are those of the document at hand, whose names and UIDs are in its
	// columns.
	records []compact
}

// open takes a document apart.
func (d *decoder) open(data []byte) error {
	if d.table == nil {
		t, err := newTable()
		if err != nil {
			return err
		}
		d.table = t
		d.sets, d.owners, d.allocations, d.places = map[string]uint32{}, map[string]uint32{}, map[string]uint32{}, map[string]uint32{}
	}
	return d.read(data)
}

// decode reads a document. What its records have in common is taken up at once, the
// records themselves only by who asked.
func (d *decoder) decode(data []byte) error {
	if err := d.open(data); err != nil {
		return err
	}
	for _, numbers := range []map[string]uint32{d.sets, d.owners, d.allocations, d.places} {
		clear(numbers)
	}
	d.starts = ranks(d.columns[startSourceColumn].dict, starts)
	d.runs = ranks(d.columns[runningSourceColumn].dict, starts)
	d.ends = ranks(d.columns[endSourceColumn].dict, ends)
	d.records = d.records[:0]
	for n := range d.rows {
		uid, name := d.columns[uidColumn].plain(n), d.columns[nameColumn].plain(n)
		if len(uid) == 0 || len(uid) > maxText || len(name) > maxText {
			return errBody
		}
		r, err := d.next()
		if err != nil {
			return err
		}
		d.records = append(d.records, r)
	}
	return nil
}

// next is the next record.
func (d *decoder) next() (r compact, err error) {
	for n := range d.columns {
		d.columns[n].next()
	}
	if r.set, err = d.set(); err != nil {
		return compact{}, err
	}
	if r.owner, err = d.owner(); err != nil {
		return compact{}, err
	}
	if r.allocation, err = d.allocation(); err != nil {
		return compact{}, err
	}
	r.place = d.place()
	r.startRank, r.runsRank, r.endRank = d.rank(startSourceColumn, d.starts), d.rank(runningSourceColumn, d.runs), d.rank(endSourceColumn, d.ends)
	at := d.times()
	r.happen(at)
	if !r.possible(&at) {
		return compact{}, errBody
	}
	return r, nil
}

func (d *decoder) times() times {
	time := func(column int, otherwise Time) Time {
		if c := &d.columns[column]; c.there() {
			return Time(c.ints[c.from])
		}
		return otherwise
	}
	seen, end := time(firstSeenColumn, 0), time(endColumn, 0)
	return times{
		start: time(startColumn, 0), runs: time(runningColumn, 0), earliest: time(endEarliestColumn, end), end: end,
		deletion: time(deletionColumn, 0), seen: seen, placeSeen: time(placeSeenColumn, seen), allocationSeen: time(heldSeenColumn, seen),
	}
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

// rank is that of a source; none where there is no source.
func (d *decoder) rank(column int, ranks []uint8) uint8 {
	if c := &d.columns[column]; c.there() {
		return ranks[c.codes[c.from]]
	}
	return 0
}

// possible says whether a record can have these times, as they are known.
func (r *compact) possible(at *times) bool {
	if r.startRank == unknownRank || r.runsRank == unknownRank || r.endRank == unknownRank {
		return false
	}
	made := Record{
		Seen: at.seen, PlaceSeen: at.placeSeen, AllocationSeen: at.allocationSeen, Deletion: at.deletion,
		Start: Start{at.start, starts[r.startRank]}, Runs: Start{at.runs, starts[r.runsRank]},
		End: End{at.earliest, at.end, ends[r.endRank]},
	}
	return made.intervalProblem() == "" && (at.end != 0) == (r.endRank != openRank) && (at.runs != 0) == (r.runsRank != 0)
}

// codes tells apart what the row at hand has in some columns.
func (d *decoder) codes(columns ...int) []byte {
	d.key = d.key[:0]
	for _, n := range columns {
		c := &d.columns[n]
		d.key = binary.AppendUvarint(d.key, uint64(c.to-c.from))
		if !c.coded {
			d.key = binary.AppendVarint(d.key, c.number())
			continue
		}
		for _, code := range c.codes[c.from:c.to] {
			d.key = binary.AppendUvarint(d.key, uint64(code))
		}
	}
	return d.key
}

func (d *decoder) set() (uint32, error) {
	key := d.codes(namespaceColumn, labelKeyColumn, labelValueColumn, namespaceLabelKeyColumn, namespaceLabelValueColumn)
	number, known := d.sets[string(key)]
	if known {
		return number, nil
	}
	s := LabelSet{Namespace: d.columns[namespaceColumn].string(0)}
	var err error
	if s.Labels, err = d.labels(labelKeyColumn, labelValueColumn); err != nil {
		return 0, err
	}
	if s.NamespaceLabels, err = d.labels(namespaceLabelKeyColumn, namespaceLabelValueColumn); err != nil {
		return 0, err
	}
	number = d.shared.set(&s)
	d.sets[string(key)] = number
	return number, nil
}

// labels are those of the row at hand; they must be in order.
func (d *decoder) labels(keys, values int) (Labels, error) {
	k, v := &d.columns[keys], &d.columns[values]
	if k.to-k.from != v.to-v.from {
		return nil, errBody
	}
	l := make(Labels, k.to-k.from)
	for n := range l {
		l[n] = Label{Key: k.string(n), Value: v.string(n)}
		if n > 0 && l[n].Key <= l[n-1].Key {
			return nil, errBody
		}
	}
	return l, nil
}

func (d *decoder) owner() (uint32, error) {
	columns := [...]int{ownerAPIVersionColumn, ownerKindColumn, ownerNameColumn, ownerUIDColumn}
	for _, n := range columns {
		if d.columns[n].there() != d.columns[columns[0]].there() {
			return 0, errBody
		}
	}
	if !d.columns[columns[0]].there() {
		return none, nil
	}
	key := d.codes(columns[:]...)
	number, known := d.owners[string(key)]
	if !known {
		text := func(n int) string { return d.columns[n].string(0) }
		number = d.shared.owner(&Owner{
			APIVersion: text(ownerAPIVersionColumn), Kind: text(ownerKindColumn), Name: text(ownerNameColumn), UID: text(ownerUIDColumn),
		})
		d.owners[string(key)] = number
	}
	return number, nil
}

func (d *decoder) allocation() (uint32, error) {
	columns := [...]int{resourceColumn, unitsColumn, weightColumn, claimColumn, wholeColumn, shownColumn, cappedColumn}
	key := d.codes(columns[:]...)
	number, known := d.allocations[string(key)]
	if known {
		return number, nil
	}
	shares := d.columns[resourceColumn].to - d.columns[resourceColumn].from
	for _, n := range columns[:5] {
		if d.columns[n].to-d.columns[n].from != shares {
			return 0, errBody
		}
	}
	a := Allocation{Shown: int(d.columns[shownColumn].number()), Capped: d.columns[cappedColumn].number() != 0}
	for n := range shares {
		text := func(column int) string { return d.columns[column].string(n) }
		share := Share{Resource: text(resourceColumn), Units: rational(text(unitsColumn)), Weight: rational(text(weightColumn)), Claim: text(claimColumn)}
		if whole := text(wholeColumn); whole != "" {
			if share.Whole = rational(whole); share.Whole == nil {
				return 0, errBody
			}
		}
		a.Shares = append(a.Shares, share)
	}
	if a.problem() != "" {
		return 0, errBody
	}
	number = d.shared.allocation(&a)
	d.allocations[string(key)] = number
	return number, nil
}

func (d *decoder) place() uint32 {
	key := d.codes(nodeColumn, modelColumn, instanceTypeColumn, instanceIDColumn, spotPoolColumn)
	number, known := d.places[string(key)]
	if !known {
		text := func(n int) string { return d.columns[n].string(0) }
		number = d.shared.place(&Place{
			Node: text(nodeColumn), Model: text(modelColumn), InstanceType: text(instanceTypeColumn),
			InstanceID: text(instanceIDColumn), SpotPool: text(spotPoolColumn),
		})
		d.places[string(key)] = number
	}
	return number
}
