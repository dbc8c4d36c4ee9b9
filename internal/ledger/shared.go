package ledger

import (
	"encoding/binary"
	"hash/maphash"
	"math/big"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/packed"
)

// Texts are shared by all label sets that use them, so that a hostile document cannot multiply
// them.

// none is the number of a missing owner.
const none = ^uint32(0)

// maxLabelBytes limits how much of the labels of a pod, and of a namespace, is kept, in the order
// of their keys. Only a hostile pod has more.
const maxLabelBytes = 64 << 10

type shared struct {
	seed        maphash.Seed
	hash        *maphash.Hash     // not for concurrent use
	trimmed     LabelSet          // the set being looked up
	keys        map[string]string // label keys, and other repeated texts
	numbers     map[string]*big.Rat
	lists       packed.Distinct[Labels] // of namespaces
	sets        packed.Distinct[LabelSet]
	owners      packed.Distinct[Owner]
	allocations packed.Distinct[Allocation]
	places      packed.Distinct[Place]
}

func newShared() shared {
	return shared{
		seed: maphash.MakeSeed(), hash: new(maphash.Hash), keys: map[string]string{}, numbers: map[string]*big.Rat{},
		lists:       packed.NewDistinct(func(a, b *Labels) bool { return compareLabels(*a, *b) == 0 }),
		sets:        packed.NewDistinct(func(a, b *LabelSet) bool { return compareSets(a, b) == 0 }),
		owners:      packed.NewDistinct(func(a, b *Owner) bool { return *a == *b }),
		allocations: packed.NewDistinct(func(a, b *Allocation) bool { return a.compare(b) == 0 }),
		places:      packed.NewDistinct(func(a, b *Place) bool { return a.texts() == b.texts() }),
	}
}

// key returns the single copy of a text that repeats.
func (c *shared) key(s string) string {
	if kept, there := c.keys[s]; there {
		return kept
	}
	c.keys[s] = s
	return s
}

// number returns the single copy of a number that repeats.
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
	if c.sets.Has(s, s.id) {
		return uint32(s.id)
	}
	trimmed := &c.trimmed
	*trimmed = LabelSet{Namespace: s.Namespace, Labels: trim(s.Labels), NamespaceLabels: trim(s.NamespaceLabels)}
	h := c.hasher(trimmed.Namespace)
	hashLabels(h, trimmed.Labels)
	hashLabels(h, trimmed.NamespaceLabels)
	return c.sets.Add(h.Sum64(), trimmed, func(number int32) *LabelSet {
		return &LabelSet{
			Namespace: c.key(trimmed.Namespace), Labels: c.labels(trimmed.Labels),
			NamespaceLabels: c.list(trimmed.NamespaceLabels), id: number,
		}
	})
}

// list returns the single copy of a namespace's labels.
func (c *shared) list(l Labels) Labels {
	if len(l) == 0 {
		return nil
	}
	h := c.hasher()
	hashLabels(h, l)
	number := c.lists.Add(h.Sum64(), &l, func(int32) *Labels { kept := c.labels(l); return &kept })
	return *c.lists.Values[number]
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

// KeepsAll reports whether a record keeps all of a pod's labels.
func KeepsAll(labels map[string]string) bool {
	size := 0
	for key, value := range labels {
		size += len(key) + len(value)
	}
	return size <= maxLabelBytes
}

// trim drops labels beyond maxLabelBytes.
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
	return c.owners.Add(c.hasher(texts[:]...).Sum64(), o, func(int32) *Owner {
		return &Owner{
			APIVersion: c.key(o.APIVersion), Kind: c.key(o.Kind), Name: o.Name, UID: o.UID,
		}
	})
}

// confirmation encodes Shown and Capped in one number.
func (a *Allocation) confirmation() int {
	if a.Capped {
		return a.Shown<<1 | 1
	}
	return a.Shown << 1
}

func (c *shared) allocation(held *Allocation) uint32 {
	if c.allocations.Has(held, held.id) {
		return uint32(held.id)
	}
	h := c.hasher()
	hashLength(h, held.confirmation())
	hashLength(h, len(held.Shares))
	for _, share := range slices.Concat(held.Shares, held.Earlier) {
		hashTexts(h, share.Resource, share.Units.RatString(), share.Weight.RatString(), share.Claim, share.whole())
	}
	return c.allocations.Add(h.Sum64(), held, func(number int32) *Allocation {
		return &Allocation{Shares: c.shares(held.Shares), Earlier: c.shares(held.Earlier), Shown: held.Shown, Capped: held.Capped, id: number}
	})
}

// shares returns a copy of shares whose texts and numbers are the single copies.
func (c *shared) shares(list []Share) []Share {
	if list == nil {
		return nil
	}
	kept := make([]Share, len(list))
	for n, share := range list {
		kept[n] = Share{Resource: c.key(share.Resource), Units: c.number(share.Units), Weight: c.number(share.Weight), Claim: share.Claim}
		if share.Whole != nil {
			kept[n].Whole = c.number(share.Whole)
		}
	}
	return kept
}

func (c *shared) place(p *Place) uint32 {
	if c.places.Has(p, p.id) {
		return uint32(p.id)
	}
	texts := p.texts()
	return c.places.Add(c.hasher(texts[:]...).Sum64(), p, func(number int32) *Place {
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

// hashTexts includes lengths, so that the bounds of texts count.
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
