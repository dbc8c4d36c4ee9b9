// Package storetest contains the tests that every backend of package store must pass, and a store
// that fails on request.
package storetest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

var train = store.Key{Kind: store.SpotPools, Name: "ap-singapore/train"}

// Run checks a backend. Each call of open returns a new, empty store.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	t.Helper()
	for name, check := range map[string]func(t *testing.T, s store.Store){
		"read what was written":            readBack,
		"write needs the revision":         writeNeedsRevision,
		"every write has a new revision":   newRevisions,
		"delete needs the revision":        deleteNeedsRevision,
		"list":                             list,
		"every kind":                       everyKind,
		"a large document":                 largeDocument,
		"names":                            names,
		"no write is lost":                 noLostWrite,
		"one of many creates":              oneCreate,
		"a lock excludes":                  lockExcludes,
		"a lock is waited for":             lockWaits,
		"waiting for a lock can end":       lockEnds,
		"a lock guards":                    lockGuards,
		"an ended context stops all of it": endedContext,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, open(t))
		})
	}
}

func write(t *testing.T, s store.Store, key store.Key, data string, revision store.Revision) store.Revision {
	t.Helper()
	next, err := s.Write(t.Context(), key, []byte(data), revision)
	if err != nil {
		t.Fatalf("write of %s: %v", key, err)
	}
	return next
}

func expect(t *testing.T, s store.Store, key store.Key, data string, revision store.Revision) {
	t.Helper()
	got, err := s.Read(t.Context(), key)
	if err != nil {
		t.Fatalf("read of %s: %v", key, err)
	}
	if diff := cmp.Diff(store.Document{Key: key, Revision: revision, Data: []byte(data)}, got); diff != "" {
		t.Errorf("%s: (-want +got)\n%s", key, diff)
	}
}

func expectError(t *testing.T, doing string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got the error %v, want %v", doing, err, want)
	}
}
