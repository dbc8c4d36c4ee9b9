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
		d.Add(terminal.Dim, "by namespace: ", mostUsing(u.ByNamespace))
	}
	for _, key := range slices.Sorted(maps.Keys(u.ByLabel)) {
		if len(u.ByLabel[key]) > 0 {
			d.Add(terminal.Dim, "by "+key+": ", mostUsing(u.ByLabel[key]))
		}
	}
}

// usersAtMost is the most users that are listed.
const usersAtMost = 3

// Amounts are the GPU-hours that a report has as text.
func Amounts(hours map[string]string) map[string]int64 {
	amounts := make(map[string]int64, len(hours))
	for name, text := range hours {
		amounts[name], _ = budget.ParseHours(text) // 0.000 is an error, and 0
	}
	return amounts
}

// mostUsing lists the largest users with their shares, and the sum of the others.
func mostUsing(hours map[string]string) string {
	amounts := Amounts(hours)
	var list []string
	var used []int64
	others, count, unnamed := int64(0), 0, false
	for _, name := range budget.LargestFirst(amounts) {
		switch {
		case name == budget.Others: // an unknown number
			others += amounts[name]
			unnamed = true
		case len(list) < usersAtMost:
			list, used = append(list, cmp.Or(name, "(none)")), append(used, amounts[name])
		default:
			others += amounts[name]
			count++
		}
	}
	switch {
	case unnamed:
		list, used = append(list, "others"), append(used, others)
	case count > 0:
		list, used = append(list, Plural(count, "other")), append(used, others)
	}
	shares := budget.Shares(used, 100)
	for n := range list {
		list[n] += " " + budget.Hours(used[n])
		if used[0] > 0 {
			list[n] += fmt.Sprintf(" (%d%%)", shares[n])
		}
	}
	return strings.Join(list, ", ")
}
