package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

func binding(n int, seen ledger.Time, team string) ledger.Binding {
	p := pod(n, noon)
	return ledger.Binding{
		UID: p.UID, Name: p.Name, Seen: seen, Owner: p.Owner,
		Set: &ledger.LabelSet{Namespace: "ml", Labels: ledger.LabelsOf(map[string]string{"team": team}), NamespaceLabels: p.Set.NamespaceLabels},
	}
}

func bind(t failer, l *ledger.Ledger, bindings ...ledger.Binding) {
	t.Helper()
	for _, b := range bindings {
		if err := l.Bind(b); err != nil {
			t.Fatalf("bind: %v", err)
		}
	}
}

// anyBinding draws one of a few similar pods, some of which never get a record.
func anyBinding() *rapid.Generator[ledger.Binding] {
	return rapid.Custom(func(t *rapid.T) ledger.Binding {
		seen := noon + ledger.Time(rapid.IntRange(-2, 5).Draw(t, "seen"))*minute
		b := binding(rapid.SampledFrom(append([]int{3, 4}, neighbors...)).Draw(t, "pod"), seen, rapid.SampledFrom([]string{"a", "b"}).Draw(t, "team"))
		if rapid.Bool().Draw(t, "orphan") {
			b.Owner = nil
		}
		return b
	})
}

// TestBindingsMergeInAnyOrder merges bindings with each other and with records.
func TestBindingsMergeInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var steps []func(*ledger.Ledger) error
		records := rapid.SliceOfN(anyRecord(), 0, 8).Draw(t, "records")
		for _, r := range records {
			steps = append(steps, func(l *ledger.Ledger) error { return l.Merge(r) })
		}
		bindings := rapid.SliceOfN(anyBinding(), 1, 8).Draw(t, "bindings")
		for _, b := range bindings {
			steps = append(steps, func(l *ledger.Ledger) error { return l.Bind(b) })
		}
		after := func(steps ...func(*ledger.Ledger) error) *ledger.Ledger {
			l := ledger.New(cluster)
			for _, step := range steps {
				if err := step(l); err != nil {
					t.Fatalf("a step: %v", err)
				}
			}
			return l
		}
		want := after(steps...)
		same(t, "each twice", after(append(slices.Clone(steps), steps...)...), want)
		mixed := rapid.Permutation(steps).Draw(t, "order")
		same(t, "in another order", after(mixed...), want)
		cut := rapid.IntRange(0, len(steps)).Draw(t, "cut")
		left, right := after(mixed[:cut]...), after(mixed[cut:]...)
		for what, pair := range map[string][2]*ledger.Ledger{"right and left": {right, left}, "left and right": {after(mixed[:cut]...), right}} {
			if err := pair[0].Join(pair[1]); err != nil {
				t.Fatalf("join: %v", err)
			}
			same(t, what, pair[0], want)
		}
		d := disk{}
		d.save(t, want, allSteps)
		same(t, "written and read", d.load(t, noon), want)
		for r := range want.All() {
			for _, b := range bindings {
				if b.UID == r.UID && b.Seen < r.Seen {
					t.Fatalf("the pod was bound at %d, and its record is frozen as of %d", b.Seen, r.Seen)
				}
			}
		}
	})
}

func TestARecordHasTheLabelsOfItsBinding(t *testing.T) {
	t.Parallel()
	d := disk{}
	l := ledger.New(cluster)
	bind(t, l, binding(1, noon, "a"), binding(2, noon, "a"))
	d.save(t, l, allSteps)
	if !slices.Contains(documents(d), "bound") {
		t.Fatalf("documents: %v", documents(d))
	}
	l = d.load(t, noon)
	if changes, err := l.Changes(); err != nil || len(changes.Write) != 0 {
		t.Fatalf("nothing changed, and %v is written (%v)", names(changes), err)
	}
	l.Unbind(uid(2))
	taken := pod(1, noon-minute)
	taken.Seen, taken.Set = noon+hour, &ledger.LabelSet{Namespace: "ml", Labels: ledger.LabelsOf(map[string]string{"team": "b"})}
	observe(t, l, taken)
	changes, err := l.Changes()
	if err != nil || !slices.Equal(changes.Delete, []string{"bound"}) {
		t.Fatalf("deleted %v (%v)", changes.Delete, err)
	}
	// Interrupted before that, and not.
	for _, steps := range []int{len(changes.Write), allSteps} {
		after := disk{}
		for name, data := range d {
			after[name] = data
		}
		after.apply(changes, steps)
		loaded := after.load(t, noon+hour)
		r, known := loaded.Get(uid(1))
		if !known || r.Set.Labels.Get("team") != "a" || r.Seen != noon || r.AllocationSeen != noon+hour || r.PlaceSeen != noon+hour {
			t.Errorf("after %d steps: %+v", steps, r)
		}
		if _, bound := loaded.Binding(uid(1)); bound {
			t.Errorf("after %d steps it has a record and a binding", steps)
		}
	}
}

// TestTheOldestBindingsGoFirst also has more labels than fit into a document.
func TestTheOldestBindingsGoFirst(t *testing.T) {
	t.Parallel()
	l := ledger.New(cluster)
	random := rand.New(rand.NewPCG(1, 2))
	for n := range ledger.MostBindings + 3 {
		b := binding(n, noon+ledger.Time(n), "a")
		if n%50 == 0 {
			var long strings.Builder
			for long.Len() < 30_000 {
				fmt.Fprintf(&long, "%016x", random.Uint64())
			}
			b.Set.Labels = ledger.LabelsOf(map[string]string{"long": long.String()})
		}
		bind(t, l, b)
	}
	if more := l.TrimBindings(); more != 3 {
		t.Errorf("%d are forgotten", more)
	}
	for n, want := range []bool{false, false, false, true} {
		if _, known := l.Binding(uid(n)); known != want {
			t.Errorf("of pod %d known: %v", n, known)
		}
	}
	d := disk{}
	d.save(t, l, allSteps)
	for name, data := range d {
		if len(data) > 900<<10 {
			t.Errorf("%s has %d bytes", name, len(data))
		}
	}
	if slices.Contains(documents(d), "bound") {
		t.Errorf("documents: %v", documents(d))
	}
	same(t, "read again", d.load(t, noon), l)
}

func TestLostBindingsLoseNoInterval(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(disk){
		"missing": func(d disk) { delete(d, "bound") },
		"damaged": func(d disk) { d["bound"] = d["bound"][:len(d["bound"])-1] },
	} {
		d, _ := stored(t, 3, noon)
		l := d.load(t, noon)
		bind(t, l, binding(1000, noon, "a"))
		d.save(t, l, allSteps)
		harm(d)
		l, problems, err := ledger.Load(cluster, d, noon+minute)
		if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Error(), "by the labels that they have when they are next observed") {
			t.Fatalf("%s: problems %v (%v)", name, problems, err)
		}
		if len(l.Header.Lost) != 0 || l.Len() != 4 {
			t.Errorf("%s: %d records, lost %v", name, l.Len(), l.Header.Lost)
		}
		bind(t, l, binding(1001, noon, "a"))
		d.save(t, l, allSteps)
		if again, problems, err := ledger.Load(cluster, d, noon+2*minute); err != nil || len(problems) != 0 || len(slices.Collect(again.Bindings())) != 1 {
			t.Errorf("%s: afterwards %v (%v)", name, problems, err)
		}
	}
}

func TestWhatCannotBeABindingIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*ledger.Binding){
		"no UID":             func(b *ledger.Binding) { b.UID = "" },
		"never seen":         func(b *ledger.Binding) { b.Seen = 0 },
		"a name without end": func(b *ledger.Binding) { b.Name = strings.Repeat("a", 300) },
	} {
		b := binding(1, noon, "a")
		change(&b)
		l := ledger.New(cluster)
		if err := l.Bind(b); err == nil || len(slices.Collect(l.Bindings())) != 0 {
			t.Errorf("%s: taken up (%v)", name, err)
		}
	}
}
