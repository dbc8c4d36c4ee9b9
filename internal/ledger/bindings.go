package ledger

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
)

// Binding is a pod as a run first saw it bound to a node, while there was nothing to
// record of it yet: its kubelet had not taken it. Its record is frozen as of then,
// whatever whoever may edit the pod makes of its labels until it gets one.
type Binding struct {
	UID   string    `json:"uid"`
	Name  string    `json:"name"`
	Seen  Time      `json:"seen_ms"` // when the run looked
	Set   *LabelSet `json:"set"`
	Owner *Owner    `json:"owner,omitempty"` // nil for a pod without one
}

// MostBindings is how many are remembered from one run to the next.
const MostBindings = 5000

// frozen is the part of a record that a binding is.
func (b *Binding) frozen() Record {
	return Record{UID: b.UID, Name: b.Name, Seen: b.Seen, Set: b.Set, Owner: b.Owner}
}

func (b *Binding) normalise() error {
	if b.Set == nil {
		b.Set = &LabelSet{}
	}
	if b.UID == "" || len(b.UID) > maxText || len(b.Name) > maxText || b.Seen <= 0 || b.Seen > lastMoment {
		return fmt.Errorf("the ledger takes up no binding of the pod %.80q (UID %.60q): its UID or when it was seen is missing, or one of its "+
			"texts is too long", b.Set.Namespace+"/"+b.Name, b.UID)
	}
	return nil
}

// freeze gives a record what is frozen of a pod at its binding, where that was seen
// before.
func (b *Binding) freeze(r *Record) {
	if f := b.frozen(); compareFrozen(&f, r) < 0 {
		r.Name, r.Seen, r.Set, r.Owner = b.Name, b.Seen, b.Set, b.Owner
	}
}

// bindings are pods that are bound and have no record, by UID.
type bindings struct{ table[Binding] }

func newBindings(l *Ledger) bindings {
	return bindings{table[Binding]{
		kind: document.Bindings, of: map[string]Binding{}, uid: func(b Binding) string { return b.UID },
		problem: func(b Binding) error { return b.normalise() }, take: l.Bind,
		called: "pods that are bound and that no kubelet took yet", lost: "these are counted by the labels that they have when they are next seen",
	}}
}

// Bind adds what was seen of a pod that is bound. The earliest that was seen stays:
// again changes nothing, and the order makes no difference, nor whether the pod's
// record comes before or after. A pod that has a record has no binding.
func (l *Ledger) Bind(b Binding) error {
	if err := b.normalise(); err != nil {
		return err
	}
	if r, recorded := l.Get(b.UID); recorded {
		b.freeze(&r)
		return l.Merge(r)
	}
	seen := b.frozen()
	if old, known := l.bindings.of[b.UID]; known {
		if before := old.frozen(); compareFrozen(&seen, &before) >= 0 {
			return nil
		}
	}
	b.Set = l.shared.sets.Values[l.shared.set(b.Set)]
	if b.Owner != nil {
		b.Owner = l.shared.owners.Values[l.shared.owner(b.Owner)]
	}
	l.bindings.put(b)
	return nil
}

// Unbind forgets a pod that was bound, and is gone or never gets a record.
func (t *bindings) Unbind(uid string) { t.forget(uid) }

// Binding returns what is remembered of a pod that is bound and has no record.
func (t *bindings) Binding(uid string) (Binding, bool) {
	b, known := t.of[uid]
	return b, known
}

// Bindings yields the pods that are bound and have no record, as they were first
// seen, the first seen first.
func (t *bindings) Bindings() iter.Seq[Binding] {
	return slices.Values(slices.SortedFunc(maps.Values(t.of), compareBindings))
}

// TrimBindings forgets the bindings that are more than MostBindings, those that were
// seen first, and returns how many.
func (t *bindings) TrimBindings() int {
	more := len(t.of) - MostBindings
	if more <= 0 {
		return 0
	}
	for _, b := range slices.SortedFunc(maps.Values(t.of), compareBindings)[:more] {
		t.Unbind(b.UID)
	}
	return more
}

func compareBindings(a, b Binding) int {
	return cmp.Or(cmp.Compare(a.Seen, b.Seen), strings.Compare(a.UID, b.UID))
}

// use freezes a record as of its pod's binding, which is thereby used up.
func (t *bindings) use(r *Record) {
	if b, known := t.of[r.UID]; known {
		b.freeze(r)
		t.Unbind(r.UID)
	}
}
