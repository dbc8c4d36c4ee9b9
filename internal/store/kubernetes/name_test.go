package kubernetes

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

func TestObjectNames(t *testing.T) {
	t.Parallel()
	for key, want := range map[store.Key]string{
		{Kind: store.SpotPools, Name: "ap-singapore/train"}:     "gpupool.spot-pools.ap-singapore.train",
		{Kind: store.Statuses, Name: "budgets/team-a"}:          "gpupool.statuses.budgets.team-a",
		{Kind: locksKind, Name: "spot_pool/ap-singapore/train"}: "gpupool.locks.spot--pool.ap-singapore.train",
		{Kind: store.Ledger, Name: "c0ffee/recent.parquet"}:     "gpupool.ledger.c0ffee.recent.parquet",
		{Kind: store.Ledger, Name: "a--b"}:                      "gpupool.0.ledger.a--b.87a84df4b5572940a9d5cad8a65ff80d",
	} {
		if got := documentName(key); got != want {
			t.Errorf("%s is called %s, want %s", key, got, want)
		}
	}
}

func keys() *rapid.Generator[store.Key] {
	segment := rapid.StringMatching(`[a-c0](([-_a-c0]|--|_-|__){0,4}[a-c0])?`)
	drawn := rapid.Custom(func(t *rapid.T) store.Key {
		segments := rapid.SliceOfN(segment, 1, 4).Draw(t, "segments")
		if rapid.Bool().Draw(t, "long") {
			segments[0] = strings.Repeat(segments[0], 120/len(segments[0]))
		}
		return store.Key{
			Kind: rapid.SampledFrom([]store.Kind{"a", "a_b", "a_b_c", "locks"}).Draw(t, "kind"),
			Name: strings.Join(segments, "/") + rapid.SampledFrom([]string{"", store.Parquet, "/parquet"}).Draw(t, "form"),
		}
	})
	return drawn.Filter(func(key store.Key) bool {
		return store.ValidateName(strings.TrimSuffix(key.Name, store.Parquet)) == nil
	})
}

func TestNoTwoKeysMeetInOneObject(t *testing.T) {
	t.Parallel()
	seen := map[string]store.Key{}
	rapid.Check(t, func(t *rapid.T) {
		key := keys().Draw(t, "key")
		name := documentName(key)
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			t.Fatalf("%s is called %s: %s", key, name, problems)
		}
		if other, ok := seen[name]; ok && other != key {
			t.Fatalf("%s and %s are both called %s", key, other, name)
		}
		seen[name] = key
	})
}
