package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Damaged checks how a backend reports a document that lost its content. open returns a new, empty
// store, and a function that removes the content of one of its documents.
func Damaged(t *testing.T, open func(t *testing.T) (s store.Store, damage func(store.Key))) {
	t.Helper()
	for _, kind := range store.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s, damage := open(t)
			damaged := store.Key{Kind: kind, Name: "a/damaged"}
			others := []store.Key{{Kind: kind, Name: "a/before"}, {Kind: kind, Name: "a/one-more"}}
			write(t, s, damaged, "a", "")
			var want []store.Document
			for _, key := range others {
				want = append(want, store.Document{Key: key, Revision: write(t, s, key, "a", ""), Data: []byte("a")})
			}
			damage(damaged)
			got, err := s.List(t.Context(), kind)
			if err != nil || len(got) != 3 {
				t.Fatalf("listed %v (%v), want all three", got, err)
			}
			if d := got[1]; d.Key != damaged || d.Revision == "" || len(d.Data) > 0 {
				t.Errorf("what is damaged is listed as %v", d)
			}
			if diff := cmp.Diff(want, []store.Document{got[0], got[2]}); diff != "" {
				t.Errorf("the others: (-want +got)\n%s", diff)
			}
			// The listed revision is enough to replace it with a copy.
			expect(t, s, damaged, "b", write(t, s, damaged, "b", got[1].Revision))
		})
	}
}
