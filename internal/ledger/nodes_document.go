package ledger

// The body of the nodes' document is like that of a shard: how many nodes, the
// texts, the lists of labels, and then the columns.

func encodeNodes(nodes []Node) []byte {
	var t tables
	var columns writer
	for n := range nodes {
		encodeUID(&columns, nodes[n].UID)
	}
	for n := range nodes {
		for _, s := range []string{nodes[n].Name, nodes[n].Machine} {
			columns.count(len(s))
			columns.b = append(columns.b, s...)
		}
	}
	for n := range nodes {
		columns.count(t.list(nodes[n].Traits))
		columns.count(t.list(nodes[n].Capacity))
		columns.count(nodes[n].Told)
	}
	values := make([]int64, len(nodes))
	for _, of := range nodeTimes {
		for n := range nodes {
			values[n] = int64(*of(&nodes[n]))
		}
		columns.column(values)
	}
	var body writer
	body.count(len(nodes))
	t.writeTexts(&body)
	body.count(len(t.lists.values))
	body.b = append(body.b, t.listRows.b...)
	return append(body.b, columns.b...)
}

// nodeTimes are the times of a node, in the order in which they are written.
var nodeTimes = []func(*Node) *Time{
	func(n *Node) *Time { return &n.Created }, func(n *Node) *Time { return &n.Gone }, func(n *Node) *Time { return &n.ToldAt },
}

// minNode is how many bytes a node takes at least.
const minNode = 9

// decodeNodes reads the body of the nodes' document.
func (d *decoder) decodeNodes(body []byte, version int) ([]Node, error) {
	r := &reader{b: body, version: version}
	nodes := make([]Node, r.count(minNode))
	d.decodeTexts(r)
	text := func() string {
		if n := r.below(len(d.tables.texts)); r.err == nil {
			return d.tables.texts[n]
		}
		return ""
	}
	lists := d.decodeLists(r, r.count(1), text)
	d.decodeUIDs(r, len(nodes))
	for n := range nodes {
		nodes[n].UID = string(d.uids.get(n))
	}
	for n := range nodes {
		nodes[n].Name = string(r.bytes(r.below(maxText + 1)))
		nodes[n].Machine = string(r.bytes(r.below(maxMachine + 1)))
	}
	for n := range nodes {
		nodes[n].Traits, nodes[n].Capacity = lists[r.below(len(lists))], lists[r.below(len(lists))]
		nodes[n].Told = r.below(mostShown + 1)
	}
	values := make([]int64, len(nodes))
	for _, of := range nodeTimes {
		r.column(values)
		for n := range nodes {
			*of(&nodes[n]) = Time(values[n])
		}
	}
	if r.err != nil || len(r.b) > 0 {
		return nil, errBody
	}
	for n := range nodes {
		if nodes[n].problem() != "" {
			return nil, errBody
		}
	}
	return nodes, nil
}
