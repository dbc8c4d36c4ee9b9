package accounting

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// How many doubts about pods are reported: of one namespace, so that what one tenant
// makes up hides nothing of the others, and in all.
const (
	doubtsOfNamespace = 5
	doubtsAtMost      = 50
)

// doubts are the facts about pods that are unknown or implausible.
type doubts struct {
	reported []string
	// reportedOf and leftOut count those that are reported, and those that are not, by
	// namespace.
	reportedOf, leftOut map[string]int
}

// add takes up a doubt about a pod of a namespace; empty for one of no pod.
func (d *doubts) add(namespace, text string) {
	if d.reportedOf == nil {
		d.reportedOf, d.leftOut = map[string]int{}, map[string]int{}
	}
	if d.reportedOf[namespace] >= doubtsOfNamespace || len(d.reported) >= doubtsAtMost {
		d.leftOut[namespace]++
		return
	}
	d.reportedOf[namespace]++
	d.reported = append(d.reported, text)
}

// texts returns the reported doubts, and the number of the others.
func (d *doubts) texts() []string {
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
		return append(slices.Clone(d.reported), fmt.Sprintf("%d more doubts about pods", more))
	}
	return append(slices.Clone(d.reported), fmt.Sprintf("%d more doubts about pods, %d of them in the namespace %s", more, d.leftOut[spaces[0]], spaces[0]))
}
