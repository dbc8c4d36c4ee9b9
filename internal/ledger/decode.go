package ledger

import (
	"encoding/binary"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/columns"
)

// decoder reads documents of records, one after the other.
type decoder struct {
	shared *shared
	*columns.Table
	// sets, owners, allocations and places map the codes of the columns of the current document to
	// numbers.
	sets, owners, allocations, places map[string]uint32
	key                               []byte
	starts, runs, ends                []uint8 // ranks of sources, by their codes
	// records are those of the current document. Their names and UIDs stay in its columns.
	records []compact
}

func (d *decoder) open(data []byte) error {
	if d.Table == nil {
		t, err := columns.NewTable[interval]()
		if err != nil {
			return err
		}
		d.Table = t
		d.sets, d.owners, d.allocations, d.places = map[string]uint32{}, map[string]uint32{}, map[string]uint32{}, map[string]uint32{}
	}
	return d.Read(data)
}

// decode reads a document. It adds the values that records share at once; the caller adds the
// records.
func (d *decoder) decode(data []byte) error {
	if err := d.open(data); err != nil {
		return err
	}
	for _, numbers := range []map[string]uint32{d.sets, d.owners, d.allocations, d.places} {
		clear(numbers)
	}
	d.starts = ranks(d.Columns[startSourceColumn].Dict, starts)
	d.runs = ranks(d.Columns[runningSourceColumn].Dict, starts)
	d.ends = ranks(d.Columns[endSourceColumn].Dict, ends)
	d.records = d.records[:0]
	for n := range d.Rows {
		uid, name := d.Columns[uidColumn].Plain(n), d.Columns[nameColumn].Plain(n)
		if len(uid) == 0 || len(uid) > maxText || len(name) > maxText {
			return columns.ErrForm
		}
		r, err := d.next()
		if err != nil {
			return err
		}
		d.records = append(d.records, r)
	}
	return nil
}

func (d *decoder) next() (r compact, err error) {
	for n := range d.Columns {
		d.Columns[n].Next()
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
	r.setTimes(at)
	if !r.possible(&at) {
		return compact{}, columns.ErrForm
	}
	return r, nil
}

func (d *decoder) times() times {
	time := func(column int, otherwise Time) Time {
		if c := &d.Columns[column]; c.There() {
			return Time(c.Number())
		}
		return otherwise
	}
	seen, end := time(firstSeenColumn, 0), time(endColumn, 0)
	return times{
		start: time(startColumn, 0), runs: time(runningColumn, 0), earliest: time(endEarliestColumn, end), end: end,
		deletion: time(deletionColumn, 0), seen: seen, placeSeen: time(placeSeenColumn, seen), allocationSeen: time(heldSeenColumn, seen),
	}
}

// unknownRank is the rank of an invalid source.
const unknownRank = 255

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

// rank returns the rank of a source, or 0 without one.
func (d *decoder) rank(column int, ranks []uint8) uint8 {
	if c := &d.Columns[column]; c.There() {
		return ranks[c.Codes()[0]]
	}
	return 0
}

// possible reports whether a record can have these times and sources.
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

// codes returns a key of the current row's values in some columns.
func (d *decoder) codes(parts ...int) []byte {
	d.key = d.key[:0]
	for _, n := range parts {
		c := &d.Columns[n]
		d.key = binary.AppendUvarint(d.key, uint64(c.Length()))
		if !c.Coded() {
			d.key = binary.AppendVarint(d.key, c.Number())
			continue
		}
		for _, code := range c.Codes() {
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
	s := LabelSet{Namespace: d.Columns[namespaceColumn].Text(0)}
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

// labels returns the labels of the current row, which must be sorted.
func (d *decoder) labels(keys, values int) (Labels, error) {
	k, v := &d.Columns[keys], &d.Columns[values]
	if k.Length() != v.Length() {
		return nil, columns.ErrForm
	}
	l := make(Labels, k.Length())
	for n := range l {
		l[n] = Label{Key: k.Text(n), Value: v.Text(n)}
		if n > 0 && l[n].Key <= l[n-1].Key {
			return nil, columns.ErrForm
		}
	}
	return l, nil
}

func (d *decoder) owner() (uint32, error) {
	parts := [...]int{ownerAPIVersionColumn, ownerKindColumn, ownerNameColumn, ownerUIDColumn}
	for _, n := range parts {
		if d.Columns[n].There() != d.Columns[parts[0]].There() {
			return 0, columns.ErrForm
		}
	}
	if !d.Columns[parts[0]].There() {
		return none, nil
	}
	key := d.codes(parts[:]...)
	number, known := d.owners[string(key)]
	if !known {
		text := func(n int) string { return d.Columns[n].Text(0) }
		number = d.shared.owner(&Owner{
			APIVersion: text(ownerAPIVersionColumn), Kind: text(ownerKindColumn), Name: text(ownerNameColumn), UID: text(ownerUIDColumn),
		})
		d.owners[string(key)] = number
	}
	return number, nil
}

func (d *decoder) allocation() (uint32, error) {
	parts := [...]int{resourceColumn, unitsColumn, weightColumn, claimColumn, wholeColumn, earlierColumn, shownColumn, cappedColumn}
	key := d.codes(parts[:]...)
	number, known := d.allocations[string(key)]
	if known {
		return number, nil
	}
	shares := d.Columns[resourceColumn].Length()
	for _, n := range parts[:6] {
		if d.Columns[n].Length() != shares {
			return 0, columns.ErrForm
		}
	}
	a := Allocation{Shown: int(d.Columns[shownColumn].Number()), Capped: d.Columns[cappedColumn].Number() != 0}
	for n := range shares {
		text := func(column int) string { return d.Columns[column].Text(n) }
		share := Share{Resource: text(resourceColumn), Units: rational(text(unitsColumn)), Weight: rational(text(weightColumn)), Claim: text(claimColumn)}
		if whole := text(wholeColumn); whole != "" {
			if share.Whole = rational(whole); share.Whole == nil {
				return 0, columns.ErrForm
			}
		}
		switch text(earlierColumn) {
		case "":
			a.Shares = append(a.Shares, share)
		case "true":
			a.Earlier = append(a.Earlier, share)
		default:
			return 0, columns.ErrForm
		}
	}
	if a.problem() != "" {
		return 0, columns.ErrForm
	}
	number = d.shared.allocation(&a)
	d.allocations[string(key)] = number
	return number, nil
}

func (d *decoder) place() uint32 {
	key := d.codes(nodeColumn, modelColumn, instanceTypeColumn, instanceIDColumn, spotPoolColumn)
	number, known := d.places[string(key)]
	if !known {
		text := func(n int) string { return d.Columns[n].Text(0) }
		number = d.shared.place(&Place{
			Node: text(nodeColumn), Model: text(modelColumn), InstanceType: text(instanceTypeColumn),
			InstanceID: text(instanceIDColumn), SpotPool: text(spotPoolColumn),
		})
		d.places[string(key)] = number
	}
	return number
}
