package describe

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
)

// Users adds who used most of a budget: the namespaces, and the values of the labels
// that it is broken down by. Fewer namespaces than least are told of elsewhere.
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

// usersAtMost is how many namespaces, or values of a label, are named.
const usersAtMost = 3

// mostUsing names those that used most of a whole, and sums up the others.
func mostUsing(hours map[string]string, whole int64) string {
	amounts := map[string]int64{}
	for name, text := range hours {
		amounts[name], _ = budget.ParseHours(text) // which a report wrote; of 0.000 it is 0, and an error
	}
	names := slices.SortedFunc(maps.Keys(amounts), func(a, b string) int {
		return cmp.Or(cmp.Compare(amounts[b], amounts[a]), strings.Compare(a, b))
	})
	var parts []string
	others, count, unnamed := int64(0), 0, false
	for _, name := range names {
		switch {
		case name == budget.Others: // how many these are is not known
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

// share is the part of a whole, as whole percents rounded down.
func share(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	of := new(big.Int).Mul(big.NewInt(part), big.NewInt(100))
	return fmt.Sprintf(" (%s%%)", of.Quo(of, big.NewInt(whole)))
}
