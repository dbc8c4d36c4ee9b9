package record_test

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

// TestADocumentIsReadAsItIs reads a document repeatedly while it changes. Its reader changes each value. The
// document is written again, damaged in one character, and read as another kind.
func TestADocumentIsReadAsItIs(t *testing.T) {
	t.Parallel()
	s, err := directory.Open(t.TempDir()+"/store", directory.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	key := store.Key{Kind: store.Statuses, Name: "last_run"}
	write := func(data []byte) {
		t.Helper()
		old, _ := s.Read(t.Context(), key)
		if _, err := s.Write(t.Context(), key, data, old.Revision); err != nil {
			t.Fatal(err)
		}
	}
	leftovers := func() []string {
		t.Helper()
		read, err := record.Load[declaration.RunSummary](t.Context(), s, key.Kind, key.Name)
		if err != nil {
			t.Fatal(err)
		}
		found := slices.Clone(read.Value.Leftovers)
		read.Value.Leftovers[0] = "changed by its reader"
		return found
	}
	document := func(text string) []byte {
		t.Helper()
		data, err := declaration.Encode(declaration.RunSummary{RunID: "run-1", Leftovers: []string{text}})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for _, text := range []string{"first", "first", "second", "first"} {
		write(document(text))
		for range 3 {
			if found := leftovers(); len(found) != 1 || found[0] != text {
				t.Errorf("the leftovers are %q, want %s", found, text)
			}
		}
	}
	write(bytes.Replace(document("first"), []byte("first"), []byte("forst"), 1))
	if _, err := record.Load[declaration.RunSummary](t.Context(), s, key.Kind, key.Name); err == nil {
		t.Error("a damaged document is read")
	}
	write(document("first"))
	if _, err := record.Load[declaration.Grants](t.Context(), s, key.Kind, key.Name); err == nil {
		t.Error("a document is read as another kind")
	}
}

// emptyList lists documents without their contents, as a store does with those that it cannot read.
type emptyList struct{ store.Store }

func (s emptyList) List(ctx context.Context, kind store.Kind) ([]store.Document, error) {
	docs, err := s.Store.List(ctx, kind)
	for n := range docs {
		docs[n].Data = nil
	}
	return docs, err
}

// TestListedWithoutContentsIsReadSingly.
func TestListedWithoutContentsIsReadSingly(t *testing.T) {
	t.Parallel()
	k := fixture()
	recorded(t, k, declaration.Active, teamA(1))
	k.Store = emptyList{k.Store}
	list, err := record.Budgets(k).List(t.Context())
	if err != nil || len(list) != 1 || list[0].Err != nil || list[0].Record.Declaration.UID != "uid-a" {
		t.Errorf("listed are %+v: %v", list, err)
	}
}

// TestCallOutlivesItsInterrupt for five seconds.
func TestCallOutlivesItsInterrupt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		call, end := record.WithGrace(ctx)
		defer end()
		interrupt()
		time.Sleep(5*time.Second - time.Nanosecond)
		synctest.Wait()
		if call.Err() != nil {
			t.Error("it ends too early")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if call.Err() == nil {
			t.Error("it does not end")
		}
	})
}
