package draft_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/draft"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/storetest"
)

func open(t *testing.T) store.Store {
	t.Helper()
	s, err := directory.Open(filepath.Join(t.TempDir(), "store"), directory.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestIsAStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) store.Store {
		return draft.Empty(store.Location{Backend: store.Directory, Path: "nowhere"})
	})
	storetest.Run(t, func(t *testing.T) store.Store { t.Helper(); return draft.Over(open(t)) })
}

// TestDraftKeepsItsStore has a draft replace, delete and add, and be read as
// though it were the store.
func TestDraftKeepsItsStore(t *testing.T) {
	t.Parallel()
	under := open(t)
	key := func(name string) store.Key { return store.Key{Kind: store.Budgets, Name: name} }
	for _, name := range []string{"changed", "deleted", "kept"} {
		if _, err := under.Write(t.Context(), key(name), []byte("old"), ""); err != nil {
			t.Fatal(err)
		}
	}
	before := contents(t, under)
	s := draft.Over(under)
	revision := func(name string) store.Revision {
		doc, err := s.Read(t.Context(), key(name))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		return doc.Revision
	}
	for _, name := range []string{"changed", "added"} {
		if _, err := s.Write(t.Context(), key(name), []byte("new"), revision(name)); err != nil {
			t.Error(err)
		}
	}
	if err := s.Delete(t.Context(), key("deleted"), revision("deleted")); err != nil {
		t.Error(err)
	}
	if _, err := s.Read(t.Context(), key("deleted")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("reading what was deleted: %v", err)
	}
	if diff := cmp.Diff(map[string]string{"added": "new", "changed": "new", "kept": "old"}, contents(t, s)); diff != "" {
		t.Errorf("the draft (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(before, contents(t, under)); diff != "" {
		t.Errorf("the store under it changed\n%s", diff)
	}
	if s.String() != under.String() {
		t.Errorf("it is called %s", s)
	}
}

func contents(t *testing.T, s store.Store) map[string]string {
	t.Helper()
	docs, err := s.List(t.Context(), store.Budgets)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, doc := range docs {
		all[doc.Key.Name] = string(doc.Data)
	}
	return all
}
