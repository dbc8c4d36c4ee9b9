package ledger_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// alike ignores the numbers of shared values.
var alike = cmp.Options{
	cmpopts.IgnoreUnexported(ledger.LabelSet{}, ledger.Allocation{}, ledger.Place{}), cmpopts.EquateEmpty(),
	cmp.Comparer(func(a, b *big.Rat) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 }),
}

func records(l *ledger.Ledger) []ledger.Record {
	var all []ledger.Record
	for r := range l.All() {
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b ledger.Record) int { return strings.Compare(a.UID, b.UID) })
	return all
}

// failer is what *testing.T and *rapid.T have in common.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func of(t failer, records ...ledger.Record) *ledger.Ledger {
	t.Helper()
	l := ledger.New(cluster)
	for _, r := range records {
		if err := l.Merge(r); err != nil {
			t.Fatalf("merge: %v", err)
		}
	}
	return l
}

func same(t failer, what string, got, want *ledger.Ledger) {
	t.Helper()
	if diff := cmp.Diff(records(want), records(got), alike); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
	if diff := cmp.Diff(want.Header, got.Header, alike); diff != "" {
		t.Fatalf("%s: header (-want +got):\n%s", what, diff)
	}
	if diff := cmp.Diff(slices.Collect(want.Nodes()), slices.Collect(got.Nodes()), alike); diff != "" {
		t.Fatalf("%s: nodes (-want +got):\n%s", what, diff)
	}
	if diff := cmp.Diff(slices.Collect(want.Bindings()), slices.Collect(got.Bindings()), alike); diff != "" {
		t.Fatalf("%s: bindings (-want +got):\n%s", what, diff)
	}
}

func TestMergeIsIdempotentAndOrderFree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seen := rapid.SliceOfN(anyRecord(), 1, 12).Draw(t, "records")
		want := of(t, seen...)
		same(t, "merged twice", of(t, append(slices.Clone(seen), seen...)...), want)
		same(t, "in another order", of(t, rapid.Permutation(seen).Draw(t, "order")...), want)
		cut := rapid.IntRange(0, len(seen)).Draw(t, "cut")
		left, right := of(t, seen[:cut]...), of(t, seen[cut:]...)
		if err := right.Join(left); err != nil {
			t.Fatalf("join: %v", err)
		}
		same(t, "in two ledgers", right, want)
		if err := right.Join(want); err != nil {
			t.Fatalf("join: %v", err)
		}
		same(t, "joined again", right, want)
	})
}

// TestAReadCountsAlikeWithAWorseEnd: a pod was read with its GPUs, and one run knows a worse end. The worse end then is that
// read, and no longer says so.
func TestAReadCountsAlikeWithAWorseEnd(t *testing.T) {
	t.Parallel()
	for _, best := range []ledger.Source{ledger.Rejected, ledger.ContainerFinished} {
		finished, read, worse := ended(pod(1, noon), noon, best), pod(1, noon), ended(pod(1, noon), noon, ledger.InstanceEnded)
		read.End.Earliest = noon + hour
		want := of(t, finished, read, worse)
		for _, order := range [][]ledger.Record{{finished, worse, read}, {worse, read, finished}, {read, finished, worse}} {
			same(t, string(best), of(t, order...), want)
		}
		if got, _ := want.Get(finished.UID); got.End.At != noon+hour-10*second {
			t.Errorf("%s: the end is %v after noon", best, got.End.At-noon)
		}
	}
}
