package ledger

import (
	"math/big"
	"strings"
)

// withoutClaims is the version in which shares had no claims: what pods shared
// was divided when each was first seen.
const withoutClaims = 1

// withoutNodes is the last version in which nothing told whether a pod's node had
// been seen, and what it had: what its pods hold is as they said.
const withoutNodes = 2

// withoutWholes is the last version in which all who held a claim asked for all of
// it, and fractions of one GPU were each pod's alone.
const withoutWholes = 3

// decodedTables are what records have in common, by its number in the ledger.
type decodedTables struct {
	texts                          []string
	sets, owners, holdings, places []uint32
}

// decodeTables reads what that many records have in common: of nothing there is
// more than there are records.
func (d *decoder) decodeTables(r *reader, records int) {
	c, t := d.commons, &d.tables
	d.decodeTexts(r)
	count := func(size int) int {
		n := r.count(size)
		if n > records {
			r.fail()
			return 0
		}
		return n
	}
	text := func() string {
		if n := r.below(len(t.texts)); r.err == nil {
			return t.texts[n]
		}
		return ""
	}
	d.decodeSets(r, count, text)
	t.owners = sized(t.owners, 1+count(4))
	t.owners[0] = none
	for n := range t.owners[1:] {
		o := Owner{UID: text(), Name: text(), Kind: text(), APIVersion: text()}
		if r.err == nil {
			t.owners[n+1] = c.owner(&o)
		}
	}
	t.holdings = sized(t.holdings, count(1))
	for n := range t.holdings {
		if h := decodeHolding(r, text); r.err == nil {
			t.holdings[n] = c.holding(h)
		}
	}
	t.places = sized(t.places, count(5))
	for n := range t.places {
		p := Place{Node: text(), Model: text(), InstanceType: text(), InstanceID: text(), SpotPool: text()}
		if r.err == nil {
			t.places[n] = c.place(&p)
		}
	}
}

// decodeSets reads sets of labels, and before them the lists that they name.
func (d *decoder) decodeSets(r *reader, count func(size int) int, text func() string) {
	c, t := d.commons, &d.tables
	lists := d.decodeLists(r, count(1), text)
	var labels Labels // of one at a time: what is kept is copied
	t.sets = sized(t.sets, count(3))
	var s LabelSet
	for n := range t.sets {
		s.Namespace, s.NamespaceLabels = text(), lists[r.below(len(lists))]
		labels = decodeLabels(r, text, labels)
		if s.Labels = labels; r.err == nil {
			t.sets[n] = c.set(&s)
		}
	}
}

// decodeLists reads so many lists of labels; before them is none.
func (d *decoder) decodeLists(r *reader, length int, text func() string) []Labels {
	var labels Labels
	lists := make([]Labels, 1+length)
	for n := range lists[1:] {
		if labels = decodeLabels(r, text, labels); r.err == nil {
			lists[n+1] = d.commons.list(labels)
		}
	}
	return lists
}

func (d *decoder) decodeTexts(r *reader) {
	d.lengths = sized(d.lengths, r.count(1))
	for n := range d.lengths {
		d.lengths[n] = uint64(r.below(maxBody))
	}
	d.tables.texts = sized(d.tables.texts, len(d.lengths))
	for n, length := range d.lengths {
		d.tables.texts[n] = string(r.bytes(int(length)))
	}
}

// decodeLabels reads labels, in the room of others; they must be in order.
func decodeLabels(r *reader, text func() string, room Labels) Labels {
	l := sized(room, r.count(2))
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
	size := 5
	switch {
	case r.version == withoutClaims:
		size = 3
	case r.version <= withoutWholes:
		size = 4
	}
	h := &Holding{Shares: make([]Share, r.count(size))}
	if r.version > withoutNodes {
		standing := r.below(2*mostShown + 2)
		h.Shown, h.Capped = standing>>1, standing&1 == 1
	}
	for n := range h.Shares {
		share := &h.Shares[n]
		share.Resource = text()
		share.Units, share.Weight = rational(text()), rational(text())
		if r.version != withoutClaims {
			share.Claim = text()
		}
		if r.version > withoutWholes {
			if whole := text(); whole != "" {
				if share.Whole = rational(whole); share.Whole == nil {
					r.fail()
				}
			}
		}
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
