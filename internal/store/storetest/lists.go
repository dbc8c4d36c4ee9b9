package storetest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

func list(t *testing.T, s store.Store) {
	documents := func(kind store.Kind) []store.Document {
		t.Helper()
		got, err := s.List(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := documents(store.SpotPools); len(got) != 0 {
		t.Fatalf("an empty store lists %v", got)
	}
	var want []store.Document
	for _, name := range []string{"a", "a.parquet", "a/parquet", "ap-1/b", "ap-1/b-c", "ap-1/b/c", "ap-10/a", "ap/b", "b"} {
		key := store.Key{Kind: store.SpotPools, Name: name}
		want = append(want, store.Document{Key: key, Revision: write(t, s, key, "about "+name, ""), Data: []byte("about " + name)})
	}
	write(t, s, store.Key{Kind: store.Journals, Name: "a"}, "another kind", "")
	if diff := cmp.Diff(want, documents(store.SpotPools)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := s.Delete(t.Context(), want[3].Key, want[3].Revision); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Delete(want, 3, 4), documents(store.SpotPools)); diff != "" {
		t.Errorf("after a delete (-want +got)\n%s", diff)
	}
}

// everyKind writes documents of one name in each kind, and checks that they are distinct.
func everyKind(t *testing.T, s store.Store) {
	const name = "0f7d3f5c-77c9-4c4f-9d57-3a1b2c4d5e6f/closed-20260101/00_a-b"
	revisions := map[store.Kind]store.Revision{}
	for _, kind := range store.Kinds() {
		revisions[kind] = write(t, s, store.Key{Kind: kind, Name: name}, string(kind), "")
	}
	for _, kind := range store.Kinds() {
		key := store.Key{Kind: kind, Name: name}
		expect(t, s, key, string(kind), revisions[kind])
		got, err := s.List(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]store.Document{{Key: key, Revision: revisions[kind], Data: []byte(kind)}}, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", kind, diff)
		}
		if err := s.Delete(t.Context(), key, revisions[kind]); err != nil {
			t.Error(err)
		}
		if got, err := s.List(t.Context(), kind); err != nil || len(got) > 0 {
			t.Errorf("%s: after the delete %v (%v)", kind, got, err)
		}
	}
}
