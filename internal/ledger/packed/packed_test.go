package packed_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/packed"
)

func TestTextsStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	var texts packed.Texts
	kept := map[packed.Text]string{}
	for n := range 10_000 { // several pages
		want := strings.Repeat("x", n%251) + fmt.Sprint(n)
		if n%2 == 0 {
			kept[texts.Add(want)] = want
		} else {
			kept[texts.AddBytes([]byte(want))] = want
		}
	}
	if len(kept) != 10_000 {
		t.Errorf("%d texts are kept", len(kept))
	}
	for text, want := range kept {
		if got := texts.Get(text); got != want {
			t.Fatalf("%+v is %q, want %q", text, got, want)
		}
	}
}

func TestNumbersAreFoundAgain(t *testing.T) {
	t.Parallel()
	hash := func(n uint32) uint64 { return uint64(n/3) << 32 } // three share one hash
	for _, reserved := range []int{0, 5000} {
		var index packed.Index
		if _, found := index.Find(0, func(uint32) bool { return true }); found {
			t.Error("something is found in an empty index")
		}
		index.Reserve(reserved)
		for n := range uint32(5000) {
			index.Add(hash(n), n)
		}
		for n := range uint32(5000) {
			if got, found := index.Find(hash(n), func(of uint32) bool { return of == n }); !found || got != n {
				t.Fatalf("%d is found as %d (%t)", n, got, found)
			}
		}
		if n, found := index.Find(hash(6000), func(uint32) bool { return true }); found {
			t.Errorf("%d is found by a hash that none has", n)
		}
	}
}

func Example() {
	names := packed.NewDistinct(func(a, b *string) bool { return *a == *b })
	for _, name := range []string{"train", "serve", "train"} {
		fmt.Println(name, names.Add(uint64(len(name)), &name, func(int32) *string { return new(name) }))
	}
	fmt.Println(len(names.Values), names.Has(names.Values[1], 1), names.Has(names.Values[1], 0))
	// Output:
	// train 0
	// serve 1
	// train 0
	// 2 true false
}
