package ledger

import (
	"encoding/binary"
	"hash/maphash"
	"math/big"
)

// Texts are kept as they come: many sets that name one text of a document share
// it, however hostile the document.

// distinct keeps one copy of each of what many records have in common.
type distinct[T any] struct {
	values []*T
	index  index
	same   func(a, b *T) bool
}

// add returns the number of a value, which copied makes where it is new.
func (i *distinct[T]) add(hash uint64, value *T, copied func(number int32) *T) uint32 {
	number, found := i.index.find(hash, func(n uint32) bool { return i.same(i.values[n], value) })
	if !found {
		number = uint32(len(i.values))
		i.values = append(i.values, copied(int32(number)))
		i.index.add(hash, number)
	}
	return number
}

// has says whether the value is itself the one that is kept under a number.
func (i *distinct[T]) has(value *T, id int32) bool {
	return int(id) < len(i.values) && i.values[id] == value
}

// none is the number of an owner that is not there.
const none = ^uint32(0)

// maxLabelBytes is how much of a pod's labels, and of a namespace's, is kept: by
// the order of their keys. No pod has as many but to do harm.
const maxLabelBytes = 64 << 10

// shared are what records have in common.
type shared struct {
	seed        maphash.Seed
	hash        *maphash.Hash     // in use by one at a time
	trimmed     LabelSet          // that is looked for
	keys        map[string]string // of labels, and other texts that repeat
	numbers     map[string]*big.Rat
	lists       distinct[Labels] // of namespaces
	sets        distinct[LabelSet]
	owners      distinct[Owner]
	allocations distinct[Allocation]
	places      distinct[Place]
}

func newShared() shared {
	return shared{
		seed: maphash.MakeSeed(), hash: new(maphash.Hash), keys: map[string]string{}, numbers: map[string]*big.Rat{},
		lists:       distinct[Labels]{same: func(a, b *Labels) bool { return compareLabels(*a, *b) == 0 }},
		sets:        distinct[LabelSet]{same: func(a, b *LabelSet) bool { return compareSets(a, b) == 0 }},
		owners:      distinct[Owner]{same: func(a, b *Owner) bool { return *a == *b }},
		allocations: distinct[Allocation]{same: func(a, b *Allocation) bool { return a.compare(b) == 0 }},
		places:      distinct[Place]{same: func(a, b *Place) bool { return a.texts() == b.texts() }},
	}
}

// key keeps one copy of a text of which there are few.
func (c *shared) key(s string) string {
	if kept, there := c.keys[s]; there {
		return kept
	}
	c.keys[s] = s
	return s
}

// number keeps one copy of a number of which there are few.
func (c *shared) number(n *big.Rat) *big.Rat {
	text := n.RatString()
	kept, there := c.numbers[text]
	if !there {
		kept = new(big.Rat).Set(n)
		c.numbers[text] = kept
	}
	return kept
}

func (c *shared) set(s *LabelSet) uint32 {
	if c.sets.has(s, s.id) {
		return uint32(s.id)
	}
	trimmed := &c.trimmed
	*trimmed = LabelSet{Namespace: s.Namespace, Labels: trim(s.Labels), NamespaceLabels: trim(s.NamespaceLabels)}
	h := c.hasher(trimmed.Namespace)
	hashLabels(h, trimmed.Labels)
	hashLabels(h, trimmed.NamespaceLabels)
	return c.sets.add(h.Sum64(), trimmed, func(number int32) *LabelSet {
		return &LabelSet{
			Namespace: c.key(trimmed.Namespace), Labels: c.labels(trimmed.Labels),
			NamespaceLabels: c.list(trimmed.NamespaceLabels), id: number,
		}
	})
}

// list keeps one copy of a namespace's labels.
func (c *shared) list(l Labels) Labels {
	if len(l) == 0 {
		return nil
	}
	h := c.hasher()
	hashLabels(h, l)
	number := c.lists.add(h.Sum64(), &l, func(int32) *Labels { kept := c.labels(l); return &kept })
	return *c.lists.values[number]
}

func (c *shared) labels(l Labels) Labels {
	if len(l) == 0 {
		return nil
	}
	kept := make(Labels, len(l))
	for n, label := range l {
		kept[n] = Label{c.key(label.Key), label.Value}
	}
	return kept
}

// KeepsAll says whether a record has all labels of a pod.
func KeepsAll(labels map[string]string) bool {
	size := 0
	for key, value := range labels {
		size += len(key) + len(value)
	}
	return size <= maxLabelBytes
}

// trim leaves off what is more than any pod needs.
func trim(l Labels) Labels {
	size := 0
	for n, label := range l {
		if size += len(label.Key) + len(label.Value); size > maxLabelBytes {
			return l[:n]
		}
	}
	return l
}

func (c *shared) owner(o *Owner) uint32 {
	if o == nil {
		return none
	}
	texts := o.texts()
	return c.owners.add(c.hasher(texts[:]...).Sum64(), o, func(int32) *Owner {
		return &Owner{
			APIVersion: c.key(o.APIVersion), Kind: c.key(o.Kind), Name: o.Name, UID: o.UID,
		}
	})
}

// standing is how an allocation is known, in one number.
func (a *Allocation) standing() int {
	if a.Capped {
		return a.Shown<<1 | 1
	}
	return a.Shown << 1
}

func (c *shared) allocation(held *Allocation) uint32 {
	if c.allocations.has(held, held.id) {
		return uint32(held.id)
	}
	h := c.hasher()
	hashLength(h, held.standing())
	for _, share := range held.Shares {
		hashTexts(h, share.Resource, share.Units.RatString(), share.Weight.RatString(), share.Claim, share.whole())
	}
	return c.allocations.add(h.Sum64(), held, func(number int32) *Allocation {
		kept := &Allocation{Shares: make([]Share, len(held.Shares)), Shown: held.Shown, Capped: held.Capped, id: number}
		for n, share := range held.Shares {
			kept.Shares[n] = Share{Resource: c.key(share.Resource), Units: c.number(share.Units), Weight: c.number(share.Weight), Claim: share.Claim}
			if share.Whole != nil {
				kept.Shares[n].Whole = c.number(share.Whole)
			}
		}
		return kept
	})
}

func (c *shared) place(p *Place) uint32 {
	if c.places.has(p, p.id) {
		return uint32(p.id)
	}
	texts := p.texts()
	return c.places.add(c.hasher(texts[:]...).Sum64(), p, func(number int32) *Place {
		return &Place{
			Node: p.Node, Model: c.key(p.Model), InstanceType: c.key(p.InstanceType),
			InstanceID: p.InstanceID, SpotPool: c.key(p.SpotPool), id: number,
		}
	})
}

func (c *shared) hasher(texts ...string) *maphash.Hash {
	c.hash.SetSeed(c.seed)
	hashTexts(c.hash, texts...)
	return c.hash
}

// hashTexts tells texts apart by their lengths.
func hashTexts(h *maphash.Hash, texts ...string) {
	for _, s := range texts {
		hashLength(h, len(s))
		_, _ = h.WriteString(s) // never fails
	}
}

func hashLabels(h *maphash.Hash, l Labels) {
	hashLength(h, len(l))
	for _, label := range l {
		hashTexts(h, label.Key, label.Value)
	}
}

func hashLength(h *maphash.Hash, n int) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	_, _ = h.Write(b[:]) // never fails
}
