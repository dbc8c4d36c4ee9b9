package usage

import (
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
)

// listing parses the flags about output.
func (o *options) listing() (usage.Listing, error) {
	l, err := usage.GroupBy(o.by)
	if err != nil {
		return l, process.Usagef("--by: %w", err)
	}
	l.Sort, l.Top = o.sort, o.top
	switch {
	case o.given("top") && o.top < 1:
		return l, process.Usagef("--top must be at least 1, not %d", o.top)
	case l.Grouped() && l.Sort == usage.SortStart:
		return l, process.Usagef("--sort start needs --by pod")
	}
	return l.WithDefaults(), nil
}

// title is the column title of a label, as in kubectl.
func title(label string) string { return strings.ToUpper(label[strings.LastIndex(label, "/")+1:]) }

// moreText counts omitted entries.
func moreText(l usage.Listed, what func(n int) string) string {
	if l.LeftOut == nil {
		return ""
	}
	return fmt.Sprintf("%s omitted, with %s GPU-hours\n", what(l.LeftOut.Entries), l.LeftOut.GPUHours)
}
