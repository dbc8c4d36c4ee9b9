package storetest

import (
	"errors"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Names that could escape from the store, or mean two things in it.
var badNames = []string{
	"", ".", "..", "../a", "a/../b", "/a", "a/", "a//b", `a\b`, "a.json", ".parquet", "a.parquet/b", "a.parquet.parquet", ".a", "A", "a b", "a\x00", "a\n", "ä",
	"-a", "a-", "a/b/c/d/e", string(make([]byte, 300)),
}

func names(t *testing.T, s store.Store) {
	ctx := t.Context()
	for _, name := range badNames {
		key := store.Key{Kind: store.SpotPools, Name: name}
		_, readError := s.Read(ctx, key)
		_, writeError := s.Write(ctx, key, []byte("a"), "")
		_, lockError := s.Lock(ctx, name, 0)
		for doing, err := range map[string]error{"read": readError, "write": writeError, "delete": s.Delete(ctx, key, ""), "lock": lockError} {
			if err == nil || errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s of the name %q: got the error %v, want a refusal of the name", doing, name, err)
			}
		}
	}
	for _, kind := range []store.Kind{"", "..", "../spot_pools", "locks", "Spot"} {
		if _, err := s.Write(ctx, store.Key{Kind: kind, Name: "a"}, []byte("a"), ""); err == nil {
			t.Errorf("the kind %q was written", kind)
		}
		if _, err := s.List(ctx, kind); err == nil {
			t.Errorf("the kind %q was listed", kind)
		}
	}
}
