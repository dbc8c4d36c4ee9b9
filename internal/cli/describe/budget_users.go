package describe

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

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

// mostUsing lists the largest users with their shares, and the sum of the others.
func mostUsing(hours map[string]string) string {
	var list []string
	shares := budgets.LargestShares(hours, usersAtMost)
	for _, share := range shares {
		name := cmp.Or(share.Name, "(none)")
		switch {
		case share.Others < 0:
			name = "others"
		case share.Others > 0:
			name = Plural(share.Others, "other")
		}
		text := name + " " + share.GPUHours
		if shares[0].Percent > 0 {
			text += fmt.Sprintf(" (%d%%)", share.Percent)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}
