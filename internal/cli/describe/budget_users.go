package describe

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
)

// Users adds the largest users of a budget by namespace and by label. It omits namespaces
// if there are fewer than least.
func (d *Details) Users(u *budgets.UsageReport, least int) {
	if u == nil {
		return
	}
	if len(u.ByNamespace) >= least {
		d.Add(terminal.Dim, "by namespace: ", mostUsing(u.ByNamespace, u.ConsumedMilliGPUSeconds))
	}
	for _, key := range slices.Sorted(maps.Keys(u.ByLabel)) {
		if len(u.ByLabel[key]) > 0 {
			d.Add(terminal.Dim, "by "+key+": ", mostUsing(u.ByLabel[key], u.ConsumedMilliGPUSeconds))
		}
	}
}

// usersAtMost is the most users that are listed.
const usersAtMost = 3

// mostUsing lists the largest users of a whole, and the sum of the others.
func mostUsing(hours map[string]string, whole int64) string {
	amounts := map[string]int64{}
	for name, text := range hours {
		amounts[name], _ = budget.ParseHours(text) // 0.000 is an error, and 0
	}
	names := slices.SortedFunc(maps.Keys(amounts), func(a, b string) int {
		return cmp.Or(cmp.Compare(amounts[b], amounts[a]), strings.Compare(a, b))
	})
	var parts []string
	others, count, unnamed := int64(0), 0, false
	for _, name := range names {
		switch {
		case name == budget.Others: // an unknown number
			others += amounts[name]
			unnamed = true
		case len(parts) < usersAtMost:
			parts = append(parts, cmp.Or(name, "(none)")+" "+budget.Hours(amounts[name])+share(amounts[name], whole))
		default:
			others += amounts[name]
			count++
		}
	}
	switch {
	case unnamed:
		parts = append(parts, "others "+budget.Hours(others)+share(others, whole))
	case count > 0:
		parts = append(parts, Plural(count, "other")+" "+budget.Hours(others)+share(others, whole))
	}
	return strings.Join(parts, ", ")
}

// share is the part of a whole in percent, rounded as in the tables of gpupool usage.
func share(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%d%%)", budget.PartOf(part, whole, 100))
}
