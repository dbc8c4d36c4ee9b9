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

// Rules define what counts as a GPU.
type Rules struct {
	// Weights are GPUs per unit by resource, as exact rationals such as "1", "1/7" or "0.25". They
	// add to the defaults or replace them. A name without a slash is a DRA driver, a resource of
	// Kubernetes itself, or gpu-fraction for fractions by annotation. An entry replaces everything
	// else known of a unit, including the node's labels; "0" excludes the resource.
	Weights map[string]string
	// Extra are resources and DRA drivers that are reported though they are not GPUs. Their weight
	// is zero; a budget can give them its own. The weight of GPUs is the same with and without
	// them. If a DRA driver serves a request, the driver's devices are reported instead of the
	// request.
	Extra []string
}

// Table prepares rules for many pods. The error names every invalid weight.
func (r Rules) Table() (*Table, error) {
	t := &Table{own: make(map[string]*big.Rat, len(r.Weights)), extra: make(map[string]bool, len(r.Extra))}
	var wrong []error
	for _, name := range r.Extra {
		if reasons := validation.IsQualifiedName(name); len(reasons) > 0 {
			wrong = append(wrong, fmt.Errorf("invalid resource name %q: %s", clip(name), strings.Join(reasons, "; ")))
			continue
		}
		t.extra[name] = true
	}
	for _, name := range sortedKeys(r.Weights) {
		if reasons := validation.IsQualifiedName(name); len(reasons) > 0 {
			wrong = append(wrong, fmt.Errorf("invalid resource name %q: %s", clip(name), strings.Join(reasons, "; ")))
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
