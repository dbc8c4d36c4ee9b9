package ledger

// The body of the bindings' document is like that of a shard, without what is held
// and where: how many, the texts, the tables, and then the columns.

func encodeBindings(bindings []Binding) []byte {
	var t tables
	var columns writer
	for n := range bindings {
		encodeUID(&columns, bindings[n].UID)
	}
	for n := range bindings {
		columns.count(len(bindings[n].Name))
		columns.b = append(columns.b, bindings[n].Name...)
	}
	for n := range bindings {
		columns.count(t.set(bindings[n].Set))
		columns.count(t.owner(bindings[n].Owner))
	}
	seen := make([]int64, len(bindings))
	for n := range bindings {
		seen[n] = int64(bindings[n].Seen)
	}
	columns.column(seen)
	var body writer
	body.count(len(bindings))
	t.write(&body)
	return append(body.b, columns.b...)
}

// minBinding is how many bytes a binding takes at least.
const minBinding = 6

// decodeBindings reads the body of the bindings' document.
func (d *decoder) decodeBindings(body []byte, version int) ([]Binding, error) {
	r := &reader{b: body, version: version}
	bindings := make([]Binding, r.count(minBinding))
	d.decodeTables(r, len(bindings))
	d.decodeUIDs(r, len(bindings))
	for n := range bindings {
		bindings[n].UID = string(d.uids.get(n))
	}
	for n := range bindings {
		bindings[n].Name = string(r.bytes(r.below(maxText + 1)))
	}
	for n := range bindings {
		set, owner := r.below(len(d.tables.sets)), r.below(len(d.tables.owners))
		if r.err != nil {
			return nil, errBody
		}
		bindings[n].Set = d.commons.sets.values[d.tables.sets[set]]
		if number := d.tables.owners[owner]; number != none {
			bindings[n].Owner = d.commons.owners.values[number]
		}
	}
	seen := make([]int64, len(bindings))
	r.column(seen)
	if r.err != nil || len(r.b) > 0 {
		return nil, errBody
	}
	for n := range bindings {
		bindings[n].Seen = Time(seen[n])
		if bindings[n].normalise() != nil {
			return nil, errBody
		}
	}
	return bindings, nil
}
