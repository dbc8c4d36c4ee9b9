package budgets

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// selectorDoubts say which namespaces a selector names that the cluster does not have, and
// which were probably meant. Namespaces that were not observed leave no doubt.
func selectorDoubts(s budget.Selector, there map[string]map[string]string) (doubts []string) {
	if len(there) == 0 {
		return nil
	}
	names := slices.Collect(maps.Keys(there))
	for _, name := range slices.Compact(slices.Sorted(slices.Values(s.Namespaces))) {
		if _, exists := there[name]; exists {
			continue
		}
		text := fmt.Sprintf("its selector names the namespace %q, which the cluster does not have", name)
		if nearest := wording.Nearest(name, names); nearest != "" {
			text += fmt.Sprintf(": did you mean %q?", nearest)
		}
		doubts = append(doubts, text)
	}
	return doubts
}

// SelectorDoubts say how a declaration's selector does not fit the cluster at hand. An
// account that may not list namespaces gets an error; runs then say so.
func (f *Flow) SelectorDoubts(ctx context.Context, d budget.Declaration) ([]string, error) {
	c, _, err := f.cluster(ctx)
	if err != nil {
		return nil, err
	}
	there, err := c.Namespaces(ctx)
	return selectorDoubts(d.Selector, there), err
}
