package budgets

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// selectorDoubts returns warnings of namespaces in a selector that do not exist, with suggestions. If
// namespaces were not observed, there are none.
func selectorDoubts(s budget.Selector, there map[string]map[string]string) (doubts []string) {
	if len(there) == 0 {
		return nil
	}
	names := slices.Collect(maps.Keys(there))
	for _, name := range slices.Compact(slices.Sorted(slices.Values(s.Namespaces))) {
		if _, exists := there[name]; exists {
			continue
		}
		text := fmt.Sprintf("its selector has the namespace %q, which does not exist in the cluster", name)
		if nearest := wording.Nearest(name, names); nearest != "" {
			text += fmt.Sprintf(": did you mean %q?", nearest)
		}
		doubts = append(doubts, text)
	}
	return doubts
}

// SelectorDoubts returns warnings of namespaces in a selector that do not exist in the cluster. The
// error can be that the account may not list namespaces.
func (f *Flow) SelectorDoubts(ctx context.Context, d budget.Declaration) ([]string, error) {
	c, _, err := f.cluster(ctx)
	if err != nil {
		return nil, err
	}
	there, err := c.Namespaces(ctx)
	return selectorDoubts(d.Selector, there), err
}
