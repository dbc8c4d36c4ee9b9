package budgets

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// Share is a part of the usage of a budget: that of a namespace, of the value of a label, or of several.
type Share struct {
	// Name is empty for pods without the label.
	Name     string
	GPUHours string
	// Percent is the part of the whole. The shares of a list sum to 100.
	Percent int64
	// Others is how many entries it sums up; negative if their number is unknown, and 0 for a named one.
	Others int
}

// Shares returns who used the GPU-hours of a breakdown, the largest first.
func Shares(hours map[string]string) []Share { return LargestShares(hours, len(hours)) }

// LargestShares returns the largest shares of a breakdown, at most so many, and the sum of the others.
func LargestShares(hours map[string]string, most int) []Share {
	amounts := make(map[string]int64, len(hours))
	for name, text := range hours {
		amounts[name], _ = budget.ParseHours(text) // 0.000 is an error, and 0
	}
	var list []Share
	var used []int64
	others, rest := int64(0), Share{}
	for _, name := range budget.LargestFirst(amounts) {
		switch {
		case name == budget.Others:
			others, rest.Others = others+amounts[name], -1
		case len(list) < most:
			list, used = append(list, Share{Name: name}), append(used, amounts[name])
		default:
			others += amounts[name]
			if rest.Others >= 0 {
				rest.Others++
			}
		}
	}
	if rest.Others != 0 {
		list, used = append(list, rest), append(used, others)
	}
	for n, percent := range budget.Shares(used, 100) {
		list[n].GPUHours, list[n].Percent = budget.Hours(used[n]), percent
	}
	return list
}
