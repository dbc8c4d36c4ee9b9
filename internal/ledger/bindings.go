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

// Binding is a pod as first observed bound to a node that its kubelet has not accepted yet. Its
// later record keeps these labels, even if they are edited before the kubelet accepts the pod.
type Binding struct {
	UID   string    `json:"uid"`
	Name  string    `json:"name"`
	Seen  Time      `json:"seen_ms"` // time of the observation
	Set   *LabelSet `json:"set"`
	Owner *Owner    `json:"owner,omitempty"` // nil if the pod has no controller
}

// MostBindings is how many bindings are kept from one run to the next.
const MostBindings = 5000

func (b *Binding) frozen() Record {
	return Record{UID: b.UID, Name: b.Name, Seen: b.Seen, Set: b.Set, Owner: b.Owner}
}

func (b *Binding) normalize() error {
	if b.Set == nil {
		b.Set = &LabelSet{}
	}
	if b.UID == "" || len(b.UID) > maxText || len(b.Name) > maxText || b.Seen <= 0 || b.Seen > lastMoment {
		return fmt.Errorf("invalid binding of the pod %.80q (UID %.60q): its UID or its time is missing, or a text is too long",
			b.Set.Namespace+"/"+b.Name, b.UID)
	}
	return nil
}

func (b *Binding) freeze(r *Record) {
	if f := b.frozen(); compareFrozen(&f, r) < 0 {
		r.Name, r.Seen, r.Set, r.Owner = b.Name, b.Seen, b.Set, b.Owner
	}
}

// bindings are the bound pods without a record, by UID.
type bindings struct{ table[Binding] }

func newBindings(l *Ledger) bindings {
	return bindings{table[Binding]{
		kind: document.Bindings, of: map[string]Binding{}, uid: func(b Binding) string { return b.UID },
		problem: func(b Binding) error { return b.normalize() }, take: l.Bind,
		called: "pods that no kubelet accepted yet", lost: "they count by the labels that they have when they are next observed",
	}}
}

// Bind adds a pod that is bound to a node. The earliest observation wins, and binding again changes
// nothing. The order of bindings and records makes no difference. A pod that has a record has no
// binding.
func (l *Ledger) Bind(b Binding) error {
	if err := b.normalize(); err != nil {
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

// Unbind forgets a bound pod that was deleted or never gets a record.
func (t *bindings) Unbind(uid string) { t.forget(uid) }

// Binding returns the binding of a pod that has no record.
func (t *bindings) Binding(uid string) (Binding, bool) {
	b, known := t.of[uid]
	return b, known
}

// Bindings yields the bound pods without a record, in the order of their first observation.
func (t *bindings) Bindings() iter.Seq[Binding] {
	return slices.Values(slices.SortedFunc(maps.Values(t.of), compareBindings))
}

// TrimBindings drops the oldest bindings beyond MostBindings, and returns how many it dropped.
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

// use fills a record from its pod's binding and drops the binding.
func (t *bindings) use(r *Record) {
	if b, known := t.of[r.UID]; known {
		b.freeze(r)
		t.Unbind(r.UID)
	}
}
