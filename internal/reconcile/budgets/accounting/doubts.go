package accounting

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// How many doubts about pods are reported: of one namespace, so that what one tenant
// makes up hides nothing of the others, and in all.
const (
	doubtsOfNamespace = 5
	doubtsAtMost      = 50
)

// doubts are the facts about pods that are unknown or implausible.
type doubts struct {
	reported reason.Reasons
	// reportedOf and leftOut count those that are reported, and those that are not, by
	// namespace.
	reportedOf, leftOut map[string]int
}

// add takes up a doubt about a pod of a namespace; empty for one of no pod. It reports whether the doubt is reported.
func (d *doubts) add(namespace string, doubt reason.Reason) bool {
	if d.reportedOf == nil {
		d.reportedOf, d.leftOut = map[string]int{}, map[string]int{}
	}
	if d.reportedOf[namespace] >= doubtsOfNamespace || len(d.reported) >= doubtsAtMost {
		d.leftOut[namespace]++
		return false
	}
	d.reportedOf[namespace]++
	d.reported = append(d.reported, doubt)
	return true
}

// warnings returns the reported doubts, and the number of the others.
func (d *doubts) warnings() reason.Reasons {
	if len(d.leftOut) == 0 {
		return d.reported
	}
	more, spaces := 0, slices.SortedFunc(maps.Keys(d.leftOut), func(a, b string) int {
		return cmp.Or(cmp.Compare(d.leftOut[b], d.leftOut[a]), strings.Compare(a, b))
	})
	for _, n := range d.leftOut {
		more += n
	}
	if spaces[0] == "" { // of no pod
		return append(slices.Clone(d.reported), reason.MoreDoubts(reason.Count(more)))
	}
	return append(slices.Clone(d.reported), reason.MoreDoubtsOf(reason.Count(more), reason.Count(d.leftOut[spaces[0]]), reason.Word(spaces[0])))
}
