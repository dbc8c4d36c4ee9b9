package storetest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

func readBack(t *testing.T, s store.Store) {
	_, err := s.Read(t.Context(), train)
	expectError(t, "read of nothing", err, store.ErrNotFound)
	data := []byte("{\n \"any\": \"bytes \x00\xff\"}")
	revision, err := s.Write(t.Context(), train, data, "")
	if err != nil {
		t.Fatal(err)
	}
	want := string(data)
	clear(data) // which belongs to the caller
	expect(t, s, train, want, revision)
	got, err := s.Read(t.Context(), train)
	if err != nil {
		t.Fatal(err)
	}
	clear(got.Data)
	expect(t, s, train, want, revision)
}

func writeNeedsRevision(t *testing.T, s store.Store) {
	_, err := s.Write(t.Context(), train, []byte("a"), "made-up")
	expectError(t, "change of nothing", err, store.ErrConflict)
	first := write(t, s, train, "a", "")
	_, err = s.Write(t.Context(), train, []byte("b"), "")
	expectError(t, "create of what is there", err, store.ErrConflict)
	second := write(t, s, train, "b", first)
	_, err = s.Write(t.Context(), train, []byte("c"), first)
	expectError(t, "change of an older revision", err, store.ErrConflict)
	expect(t, s, train, "b", second)
	if err := s.Delete(t.Context(), train, second); err != nil {
		t.Fatal(err)
	}
	_, err = s.Write(t.Context(), train, []byte("c"), second)
	expectError(t, "change of what is gone", err, store.ErrConflict)
	expect(t, s, train, "d", write(t, s, train, "d", ""))
}

func newRevisions(t *testing.T, s store.Store) {
	var revision store.Revision
	var seen []store.Revision
	for _, data := range []string{"a", "b", "a", "a", "a", ""} {
		revision = write(t, s, train, data, revision)
		if revision == "" || slices.Contains(seen, revision) {
			t.Fatalf("writing %q gave the revision %q after %q", data, revision, seen)
		}
		seen = append(seen, revision)
		expect(t, s, train, data, revision)
	}
}

func deleteNeedsRevision(t *testing.T, s store.Store) {
	expectError(t, "delete of nothing", s.Delete(t.Context(), train, "made-up"), store.ErrNotFound)
	first := write(t, s, train, "a", "")
	second := write(t, s, train, "b", first)
	expectError(t, "delete of an older revision", s.Delete(t.Context(), train, first), store.ErrConflict)
	expectError(t, "delete without a revision", s.Delete(t.Context(), train, ""), store.ErrConflict)
	expect(t, s, train, "b", second)
	if err := s.Delete(t.Context(), train, second); err != nil {
		t.Fatal(err)
	}
	_, err := s.Read(t.Context(), train)
	expectError(t, "read of what is gone", err, store.ErrNotFound)
	expectError(t, "second delete", s.Delete(t.Context(), train, second), store.ErrNotFound)
}

func largeDocument(t *testing.T, s store.Store) {
	for _, kind := range []store.Kind{store.SpotPools, store.Ledger} {
		key := store.Key{Kind: kind, Name: "large"}
		data := strings.Repeat("{\"name\": \"train\"}\n", 200_000)
		revision := write(t, s, key, data, "")
		got, err := s.Read(t.Context(), key)
		if err != nil || got.Revision != revision || string(got.Data) != data {
			t.Errorf("%s: %d bytes came back of %d (%v)", key, len(got.Data), len(data), err)
		}
	}
}

func endedContext(t *testing.T, s store.Store) {
	revision := write(t, s, train, "a", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Read(ctx, train)
	expectError(t, "read", err, context.Canceled)
	_, err = s.List(ctx, train.Kind)
	expectError(t, "list", err, context.Canceled)
	_, err = s.Write(ctx, train, []byte("b"), revision)
	expectError(t, "write", err, context.Canceled)
	expectError(t, "delete", s.Delete(ctx, train, revision), context.Canceled)
	_, err = s.Lock(ctx, "run", time.Minute)
	expectError(t, "lock", err, context.Canceled)
	expect(t, s, train, "a", revision)
}
