package declaration_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
)

func pulled(t *testing.T, stores map[string]declaration.RememberedStore) *declaration.TerraformState {
	t.Helper()
	var resources []string
	for name, s := range stores {
		value, _ := json.Marshal(s)
		private, err := json.Marshal(map[string][]byte{declaration.StoreKey: value, "quiet": []byte("true")})
		if err != nil {
			t.Fatal(err)
		}
		resources = append(resources, fmt.Sprintf(`{"mode":"managed","type":"gpupool_spot_pool","name":%q,"provider":"provider[\"a.example/gpupool/gpupool\"].x",
			"instances":[{"schema_version":0,"attributes":%s,"private":%q}]}`, name, attributes(name, "uid-"+name), base64.StdEncoding.EncodeToString(private)))
	}
	return fromState(t, []byte(`{"version":4,"serial":1,"lineage":"l","resources":[`+strings.Join(resources, ",")+`]}`))
}

// TestObjectsOfAnotherStoreAreLeftToIt: with two providers of one configuration, each pool is
// run by its own store only.
func TestObjectsOfAnotherStoreAreLeftToIt(t *testing.T) {
	t.Parallel()
	const namespace = "kubernetes:gpupool-system"
	state := func() *declaration.TerraformState {
		return pulled(t, map[string]declaration.RememberedStore{
			"here": {Store: namespace, Cluster: "a"}, "there": {Store: namespace, Cluster: "b"}, "files": {Store: "directory:/s"}, "nowhere": {},
		})
	}
	for name, c := range map[string]struct {
		here declaration.RememberedStore
		want string
		left int
	}{
		"one of them":          {declaration.RememberedStore{Store: namespace, Cluster: "a"}, "here nowhere", 2},
		"a directory":          {declaration.RememberedStore{Store: "directory:/s"}, "files nowhere", 2},
		"its cluster unknown":  {declaration.RememberedStore{Store: namespace}, "here nowhere there", 1},
		"a new one":            {declaration.RememberedStore{Store: "directory:/new"}, "files here nowhere there", 0},
		"a namespace restored": {declaration.RememberedStore{Store: namespace, Cluster: "c"}, "files here nowhere there", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := state()
			s.LeaveToOthers(c.here)
			var names []string
			for _, p := range s.Pools {
				names = append(names, p.Declaration.Name)
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != c.want || len(s.Warnings) != c.left {
				t.Errorf("%s are taken, want %s; warnings %q", got, c.want, s.Warnings)
			}
		})
	}
}
