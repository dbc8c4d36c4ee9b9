package ledger_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

func remembering(t failer, nodes ...ledger.Node) *ledger.Ledger {
	t.Helper()
	l := ledger.New(cluster)
	for _, n := range nodes {
		if err := l.Remember(n); err != nil {
			t.Fatalf("remember: %v", err)
		}
	}
	return l
}

func TestNodesMergeInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seen := rapid.SliceOfN(anyNode(), 1, 8).Draw(t, "nodes")
		want := remembering(t, seen...)
		same(t, "remembered twice", remembering(t, append(slices.Clone(seen), seen...)...), want)
		same(t, "in another order", remembering(t, rapid.Permutation(seen).Draw(t, "order")...), want)
		cut := rapid.IntRange(0, len(seen)).Draw(t, "cut")
		left, right := remembering(t, seen[:cut]...), remembering(t, seen[cut:]...)
		if err := right.Join(left); err != nil {
			t.Fatalf("join: %v", err)
		}
		same(t, "in two ledgers", right, want)
		d := disk{}
		d.save(t, right, allSteps)
		same(t, "written and read", d.load(t, noon), want)
		for n := range want.Nodes() {
			for _, s := range seen {
				if s.UID == n.UID && s.Told > n.Told {
					t.Fatalf("it told %d, and %d is remembered", s.Told, n.Told)
				}
			}
		}
	})
}

func TestTheLargestCapacityIsRemembered(t *testing.T) {
	t.Parallel()
	node := func(capacity string, told int, model string) ledger.Node {
		return ledger.Node{
			UID: "node-uid", Name: "node-1", Told: told, ToldAt: noon, Traits: ledger.LabelsOf(map[string]string{"model": model}),
			Capacity: ledger.LabelsOf(map[string]string{"nvidia.com/gpu": capacity}),
		}
	}
	l := remembering(t, node("8", 2, "Tesla-T4"), node("0", 0, ""), node("4", 1, "T4"))
	n, known := l.Node("node-uid")
	if !known || n.Capacity.Get("nvidia.com/gpu") != "8" || n.Traits.Get("model") != "Tesla-T4" {
		t.Errorf("remembered: %+v", n)
	}
	if err := l.Remember(ledger.Node{Name: "no uid"}); err == nil || !strings.Contains(err.Error(), "invalid ledger entry of the node") {
		t.Errorf("a node without a UID: %v", err)
	}
	if err := l.Remember(node("many", 0, "")); err == nil {
		t.Error("a capacity of no number is taken up")
	}
}

func TestNodesAreForgottenWithWhatEnded(t *testing.T) {
	t.Parallel()
	d, _ := stored(t, 1, noon)
	l := d.load(t, noon)
	for n, gone := range []ledger.Time{0, noon - 9*day, noon - hour} {
		if err := l.Remember(ledger.Node{UID: uid(n), Name: fmt.Sprintf("node-%d", n), Created: noon - 20*day, Gone: gone}); err != nil {
			t.Fatal(err)
		}
	}
	d.save(t, l, allSteps)
	if !slices.Contains(documents(d), "nodes") {
		t.Fatalf("documents: %v", documents(d))
	}
	l = d.load(t, noon)
	if changes, err := l.Changes(); err != nil || len(changes.Write) != 0 {
		t.Errorf("nothing changed, and %v is written (%v)", names(changes), err)
	}
	l.Prune(noon - 4*day)
	d.save(t, l, allSteps)
	var left []string
	for n := range d.load(t, noon).Nodes() {
		left = append(left, n.Name)
	}
	if diff := cmp.Diff([]string{"node-0", "node-2"}, left); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

func TestManyNodesAreSeveralDocuments(t *testing.T) {
	t.Parallel()
	l := ledger.New(cluster)
	for n := range 24_000 {
		sum := sha256.Sum256([]byte(uid(n)))
		random := fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
		err := l.Remember(ledger.Node{
			UID: random, Name: fmt.Sprintf("ip-10-%d-%d-%d.internal", n>>16, n>>8&255, n&255),
			Machine: fmt.Sprintf("qcloud:///800001/ins-%08x", uint32(n)*2654435761), Created: noon,
			Capacity: ledger.LabelsOf(map[string]string{"nvidia.com/gpu": "8"}),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	d := disk{}
	d.save(t, l, allSteps)
	parts := 0
	for name, data := range d {
		if strings.HasPrefix(name, "nodes_") {
			parts++
		}
		if len(data) > 900<<10 {
			t.Errorf("%s has %d bytes", name, len(data))
		}
	}
	if parts < 2 {
		t.Errorf("documents: %v", documents(d))
	}
	same(t, "read again", d.load(t, noon), l)
}

func TestLostNodesLoseNoInterval(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(disk){
		"missing": func(d disk) { delete(d, "nodes") },
		"damaged": func(d disk) { d["nodes"] = d["nodes"][:len(d["nodes"])-1] },
	} {
		d, _ := stored(t, 3, noon)
		l := d.load(t, noon)
		if err := l.Remember(ledger.Node{UID: uid(1000), Name: "node-1", Created: noon}); err != nil {
			t.Fatal(err)
		}
		d.save(t, l, allSteps)
		harm(d)
		l, problems, err := ledger.Load(cluster, d, noon+minute)
		if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Error(), "count as estimates") {
			t.Fatalf("%s: problems %v (%v)", name, problems, err)
		}
		if len(l.Header.Lost) != 0 || l.Len() != 4 {
			t.Errorf("%s: %d records, lost %v", name, l.Len(), l.Header.Lost)
		}
		if err := l.Remember(ledger.Node{UID: uid(1001), Name: "node-2", Created: noon}); err != nil {
			t.Fatal(err)
		}
		d.save(t, l, allSteps)
		if again, problems, err := ledger.Load(cluster, d, noon+2*minute); err != nil || len(problems) != 0 || len(slices.Collect(again.Nodes())) != 1 {
			t.Errorf("%s: afterwards %v (%v)", name, problems, err)
		}
	}
}
