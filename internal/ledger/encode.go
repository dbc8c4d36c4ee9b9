package ledger

import (
	"cmp"
	"slices"
	"strings"
)

// The body of a shard: how many records; the texts that occur in it; the tables
// of what records have in common, which name texts by number; then the columns,
// a value of each record at a time, since like values side by side pack best.
// The same records always make the same bytes.

// tables number what a shard's records have in common, by first use.
type tables struct {
	texts    numbered[string]
	lists    numbered[*Label] // of namespaces, by their first label
	sets     numbered[*LabelSet]
	owners   numbered[*Owner]
	holdings numbered[*Holding]
	places   numbered[*Place]

	listRows, setRows, ownerRows, holdingRows, placeRows writer
}

// numbered are values in the order in which they first came.
type numbered[T comparable] struct {
	values  []T
	numbers map[T]int
}

func (n *numbered[T]) add(value T) (number int, isNew bool) {
	number, there := n.numbers[value]
	if there {
		return number, false
	}
	if n.numbers == nil {
		n.numbers = map[T]int{}
	}
	number = len(n.values)
	n.values = append(n.values, value)
	n.numbers[value] = number
	return number, true
}

func (t *tables) text(w *writer, s string) {
	number, _ := t.texts.add(s)
	w.count(number)
}

func (t *tables) labels(w *writer, l Labels) {
	w.count(len(l))
	for _, label := range l {
		t.text(w, label.Key)
		t.text(w, label.Value)
	}
}

// list numbers a namespace's labels from 1; 0 is none.
func (t *tables) list(l Labels) int {
	if len(l) == 0 {
		return 0
	}
	number, isNew := t.lists.add(&l[0])
	if isNew {
		t.labels(&t.listRows, l)
	}
	return number + 1
}

func (t *tables) set(s *LabelSet) int {
	number, isNew := t.sets.add(s)
	if isNew {
		t.text(&t.setRows, s.Namespace)
		t.setRows.count(t.list(s.NamespaceLabels))
		t.labels(&t.setRows, s.Labels)
	}
	return number
}

// owner numbers owners from 1; 0 is none.
func (t *tables) owner(o *Owner) int {
	if o == nil {
		return 0
	}
	number, isNew := t.owners.add(o)
	if isNew {
		for _, s := range o.texts() {
			t.text(&t.ownerRows, s)
		}
	}
	return number + 1
}

func (t *tables) holding(h *Holding) int {
	number, isNew := t.holdings.add(h)
	if isNew {
		t.holdingRows.count(len(h.Shares))
		t.holdingRows.count(h.standing())
		for _, share := range h.Shares {
			t.text(&t.holdingRows, share.Resource)
			t.text(&t.holdingRows, share.Units.RatString())
			t.text(&t.holdingRows, share.Weight.RatString())
			t.text(&t.holdingRows, share.Claim)
			t.text(&t.holdingRows, share.whole())
		}
	}
	return number
}

func (t *tables) place(p *Place) int {
	number, isNew := t.places.add(p)
	if isNew {
		for _, s := range p.texts() {
			t.text(&t.placeRows, s)
		}
	}
	return number
}

// encodeRecords makes the body of a shard of the ledger's own records.
func encodeRecords(records []Record) []byte {
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Start.At, b.Start.At), strings.Compare(a.UID, b.UID))
	})
	var t tables
	var columns writer
	encodeNames(&columns, records)
	each := func(number func(*Record) int) {
		for n := range records {
			columns.count(number(&records[n]))
		}
	}
	source := func(s Source) int { number, _ := t.texts.add(string(s)); return number }
	each(func(r *Record) int { return t.set(r.Set) })
	each(func(r *Record) int { return t.owner(r.Owner) })
	each(func(r *Record) int { return t.holding(r.Held) })
	each(func(r *Record) int { return t.place(r.Place) })
	each(func(r *Record) int { return source(r.Start.Source) })
	each(func(r *Record) int { return source(r.Runs.Source) })
	each(func(r *Record) int { return source(r.End.Source) })
	encodeTimes(&columns, records)

	var body writer
	body.count(len(records))
	t.write(&body)
	return append(body.b, columns.b...)
}

// write writes the texts, and the tables that name them.
func (t *tables) write(body *writer) {
	t.writeTexts(body)
	for _, table := range []struct {
		rows  int
		bytes []byte
	}{
		{len(t.lists.values), t.listRows.b}, {len(t.sets.values), t.setRows.b}, {len(t.owners.values), t.ownerRows.b},
		{len(t.holdings.values), t.holdingRows.b}, {len(t.places.values), t.placeRows.b},
	} {
		body.count(table.rows)
		body.b = append(body.b, table.bytes...)
	}
}

func (t *tables) writeTexts(w *writer) {
	w.count(len(t.texts.values))
	for _, s := range t.texts.values {
		w.count(len(s))
	}
	for _, s := range t.texts.values {
		w.b = append(w.b, s...)
	}
}

// encodeUID writes a UID, packed where it is a UUID.
func encodeUID(w *writer, uid string) {
	if packed, ok := packUUID(uid); ok {
		w.count(0)
		w.b = append(w.b, packed[:]...)
		return
	}
	w.count(len(uid))
	w.b = append(w.b, uid...)
}

// encodeNames writes UIDs and names, without the
// owner's name that most begin with.
func encodeNames(w *writer, records []Record) {
	for n := range records {
		encodeUID(w, records[n].UID)
	}
	var all []byte
	for n := range records {
		own, prefixed := records[n].Name, uint64(0)
		if owner := records[n].Owner; owner != nil {
			if rest, ok := strings.CutPrefix(own, owner.Name); ok {
				own, prefixed = rest, 1
			}
		}
		w.number(uint64(len(own))<<1 | prefixed)
		all = append(all, own...)
	}
	w.b = append(w.b, all...)
}

// encodeTimes writes times as distances from others that they lie near to.
func encodeTimes(w *writer, records []Record) {
	values := make([]int64, len(records))
	column := func(of func(r, before *Record) (at, from Time, there bool)) {
		before := new(Record)
		for n := range records {
			values[n] = absent
			if at, from, there := of(&records[n], before); there {
				values[n] = int64(at - from)
			}
			before = &records[n]
		}
		w.column(values)
	}
	column(func(r, before *Record) (Time, Time, bool) { return r.Start.At, before.Start.At, true })
	column(func(r, before *Record) (Time, Time, bool) { return r.Seen, before.Seen, true })
	column(func(r, _ *Record) (Time, Time, bool) { return r.PlaceSeen, r.Seen, true })
	column(func(r, _ *Record) (Time, Time, bool) { return r.HeldSeen, r.PlaceSeen, true })
	column(func(r, _ *Record) (Time, Time, bool) { return r.Runs.At, r.Start.At, r.Runs.At != 0 })
	column(func(r, _ *Record) (Time, Time, bool) { return r.End.At, r.Start.At, r.End.At != 0 })
	column(func(r, _ *Record) (Time, Time, bool) {
		if r.Open() {
			return r.End.Earliest, r.Start.At, r.End.Earliest != 0
		}
		return r.End.Earliest, r.End.At, true
	})
	column(func(r, _ *Record) (Time, Time, bool) { return r.Deletion, r.Start.At, r.Deletion != 0 })
}
