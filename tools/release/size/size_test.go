package size

import (
	"slices"
	"strings"
	"testing"
)

func TestParts(t *testing.T) {
	t.Parallel()
	nm := `  47c2a0       1000 T k8s.io/api/core/v1.(*Pod).Unmarshal
  47c2a0        200 t k8s.io/api.init
  47c2a0         50 T k8s.io/apimachinery/pkg/runtime.Encode
  47c2a0         30 T gopkg.in/yaml%2ev3.Marshal
  47c2a0          7 T slices.SortFunc[go.shape.struct { k8s.io/api/core/v1.x int }]
  47c2a0          9 R k8s.io/api/core/v1.map_Pod
  47c2a0   99999999 B runtime.heap
         U other
`
	parts, err := Parts(strings.NewReader(nm), []string{"k8s.io/api", "k8s.io/apimachinery", "gopkg.in/yaml.v3"})
	want := []Part{{"k8s.io/api", 1200, 9}, {"k8s.io/apimachinery", 50, 0}, {"gopkg.in/yaml.v3", 30, 0}, {rest, 7, 0}}
	if err != nil || !slices.Equal(parts, want) {
		t.Errorf("%v, not %v: %v", parts, want, err)
	}
}
