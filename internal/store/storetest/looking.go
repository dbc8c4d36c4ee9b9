package storetest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Place is a possible location of a store.
type Place struct {
	// Open opens the store, and creates it if requested and needed.
	Open func(create bool) (store.Store, error)
	// Contents returns everything there, in a form that can be compared.
	Contents func() any
}

// Looking checks that reading creates and changes nothing, whether there is a store or not. The
// place must be new.
func Looking(t *testing.T, place Place) {
	t.Helper()
	unchanged := func(after string, do func()) {
		t.Helper()
		before := place.Contents()
		do()
		if diff := cmp.Diff(before, place.Contents()); diff != "" {
			t.Errorf("after %s (-before +after)\n%s", after, diff)
		}
	}
	unchanged("opening no store", func() {
		if s, err := place.Open(false); !errors.Is(err, store.ErrNoStore) {
			t.Fatalf("got %v and the error %v, want ErrNoStore", s, err)
		}
	})
	made, err := place.Open(true)
	if err != nil {
		t.Fatal(err)
	}
	unchanged("looking into an empty store", func() { look(t, place) })
	for _, kind := range store.Kinds() {
		write(t, made, store.Key{Kind: kind, Name: "ap-singapore/train"}, "a", "")
	}
	Release(t, Lock(t, made, "run"))
	unchanged("looking into a store", func() { look(t, place) })
	unchanged("opening a store that is there", func() {
		if _, err := place.Open(true); err != nil {
			t.Error(err)
		}
	})
}

// look uses a store without changing it.
func look(t *testing.T, place Place) {
	t.Helper()
	s, err := place.Open(false)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range store.Kinds() {
		list, err := s.List(t.Context(), kind)
		if err != nil {
			t.Error(err)
		}
		for _, d := range list {
			expect(t, s, d.Key, string(d.Data), d.Revision)
		}
		_, err = s.Read(t.Context(), store.Key{Kind: kind, Name: "ap-guangzhou/none"})
		expectError(t, "read of nothing", err, store.ErrNotFound)
	}
}
