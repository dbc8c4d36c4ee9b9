package budget

// interner numbers what is behind pointers. A ledger numbers its own; what has
// no number of its own, or another's, is found by its address.
type interner[T any] struct {
	byID      []numbered[T]
	byAddress map[*T]int32
}

type numbered[T any] struct {
	of     *T
	number int32
}

// find returns the number that was given to what p points to.
func (n *interner[T]) find(p *T, id int) (int32, bool) {
	if id < len(n.byID) && n.byID[id].of == p {
		return n.byID[id].number, true
	}
	number, known := n.byAddress[p]
	return number, known
}

// keep remembers a number for what p points to.
func (n *interner[T]) keep(p *T, id int, number int32) {
	const most = 1 << 24 // what is not the ledger's could have any
	if id >= len(n.byID) && id < most {
		n.byID = append(n.byID, make([]numbered[T], id+1-len(n.byID))...)
	}
	if id < most && n.byID[id].of == nil {
		n.byID[id] = numbered[T]{p, number}
		return
	}
	if n.byAddress == nil {
		n.byAddress = map[*T]int32{}
	}
	n.byAddress[p] = number
}
