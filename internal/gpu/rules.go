package gpu

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpupool/terraform-provider-gpupool/internal/weight"
)

// Rules say what counts as a GPU.
type Rules struct {
	// Weights are GPUs a unit by resource, in the place of the defaults or beside
	// them: exact rationals such as "1", "1/7" or "0.25". A name without a slash
	// is that of a DRA driver, of one of Kubernetes' own resources, or gpu-fraction
	// for fractions by annotation. An entry replaces all that is otherwise known of
	// a unit, a node's labels included; "0" has the resource not counted.
	Weights map[string]string
	// Extra are resources and DRA drivers that pods tell of though they count
	// as no GPU: with the weight zero, for who weighs them on his own. What counts
	// anyway is worth the same with and without them. Behind a request that a DRA
	// driver serves stand the driver's devices, and the request is not told of.
	Extra []string
}

// Table makes rules ready to be asked about many pods. The error names every
// weight that can't be used.
func (r Rules) Table() (*Table, error) {
	t := &Table{own: make(map[string]*big.Rat, len(r.Weights)), extra: make(map[string]bool, len(r.Extra))}
	var wrong []error
	for _, name := range r.Extra {
		if reasons := validation.IsQualifiedName(name); len(reasons) > 0 {
			wrong = append(wrong, fmt.Errorf("%q is no resource's name: %s", clip(name), strings.Join(reasons, "; ")))
			continue
		}
		t.extra[name] = true
	}
	for _, name := range sortedKeys(r.Weights) {
		if reasons := validation.IsQualifiedName(name); len(reasons) > 0 {
			wrong = append(wrong, fmt.Errorf("%q is no resource's name: %s", clip(name), strings.Join(reasons, "; ")))
			continue
		}
		worth, err := weight.Parse(r.Weights[name])
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
			continue
		}
		t.own[name] = worth
	}
	return t, errors.Join(wrong...)
}

// clip keeps a text from filling an error message.
func clip(text string) string {
	if len(text) > 80 {
		return text[:77] + "..."
	}
	return text
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
