package open_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/open"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/storetest"
)

var someKey = store.Key{Kind: store.Budgets, Name: "team-a"}

// Once it may be written, a deferred store is a store like any other.
func TestDeferredIsAStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store {
		t.Helper()
		s := open.Defer(inDirectory(t))
		if err := s.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// Reading never creates a store, and it observes what another process creates.
func TestDeferredMakesNothingForReaders(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(t *testing.T) (store.Location, open.Options){"directory": inDirectory, "kubernetes": inNamespace} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			location, o := at(t)
			s := open.Defer(location, o)
			if err := s.Open(t.Context()); err != nil || !errors.Is(s.Absent(), store.ErrNoStore) {
				t.Fatalf("opened with %v, and it is absent because %v", err, s.Absent())
			}
			readsEmpty(t, s)
			refusesWrites(t, s)
			if _, err := open.Store(t.Context(), location, o); !errors.Is(err, store.ErrNoStore) {
				t.Fatalf("a reader made the store: %v", err)
			}

			other := open.Defer(location, o)
			if err := other.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := other.Write(t.Context(), someKey, []byte("x"), ""); err != nil {
				t.Fatal(err)
			}
			if doc, err := s.Read(t.Context(), someKey); err != nil || string(doc.Data) != "x" || s.Absent() != nil {
				t.Errorf("read %q (%v) of a store that is there now; absent: %v", doc.Data, err, s.Absent())
			}
			refusesWrites(t, s)
		})
	}
}

func readsEmpty(t *testing.T, s store.Store) {
	t.Helper()
	if _, err := s.Read(t.Context(), someKey); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("reading what isn't there: %v", err)
	}
	if list, err := s.List(t.Context(), someKey.Kind); err != nil || len(list) > 0 {
		t.Errorf("listing what isn't there: %v (%v)", list, err)
	}
}

func refusesWrites(t *testing.T, s store.Store) {
	t.Helper()
	_, writing := s.Write(t.Context(), someKey, []byte("y"), "")
	_, locking := s.Lock(t.Context(), "run", 0)
	for what, err := range map[string]error{"write": writing, "lock": locking, "delete": s.Delete(t.Context(), someKey, "1")} {
		if err == nil || !strings.Contains(err.Error(), "for reading only") {
			t.Errorf("a %s for a reader: %v", what, err)
		}
	}
}

// A store that goes away reads as an empty one; to who writes it is an error.
func TestDeferredStoreGoesAway(t *testing.T) {
	t.Parallel()
	location, o := inDirectory(t)
	writer, reader := open.Defer(location, o), open.Defer(location, o)
	if err := errors.Join(writer.Create(t.Context()), reader.Open(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(location.Path); err != nil {
		t.Fatal(err)
	}
	readsEmpty(t, reader)
	if !errors.Is(reader.Absent(), store.ErrNoStore) {
		t.Errorf("it is absent because %v", reader.Absent())
	}
	if _, err := writer.Read(t.Context(), someKey); !errors.Is(err, store.ErrNoStore) {
		t.Errorf("who writes reads on: %v", err)
	}
	if _, err := os.Stat(location.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the store came back: %v", err)
	}
}

// A store that cannot be used is refused to readers too, and the refusal is kept.
func TestDeferredRefusal(t *testing.T) {
	t.Parallel()
	location, o := inDirectory(t)
	location.Path = os.DevNull
	s := open.Defer(location, o)
	for range 2 {
		if err := s.Open(t.Context()); err == nil || !strings.Contains(err.Error(), os.DevNull) {
			t.Errorf("opening %s: %v", os.DevNull, err)
		}
	}
	if _, err := s.List(t.Context(), someKey.Kind); err == nil {
		t.Error("it has a list")
	}
	if err := s.Create(t.Context()); err == nil {
		t.Error("it was made")
	}
}
