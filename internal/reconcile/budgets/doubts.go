package budgets

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// How many doubts about pods are told: of one namespace, so that what one tenant
// makes up hides nothing of the others, and in all.
const (
	doubtsOfNamespace = 5
	doubtsAtMost      = 50
)

// doubts are what about pods could not be understood, or is not believed.
type doubts struct {
	told   []string
	of     map[string]int // told, by namespace
	untold map[string]int
}

// add takes up a doubt about a pod of a namespace; empty for one of no pod.
func (d *doubts) add(namespace, text string) {
	if d.of == nil {
		d.of, d.untold = map[string]int{}, map[string]int{}
	}
	if d.of[namespace] >= doubtsOfNamespace || len(d.told) >= doubtsAtMost {
		d.untold[namespace]++
		return
	}
	d.of[namespace]++
	d.told = append(d.told, text)
}

// texts are those that are told, and how many more there are.
func (d *doubts) texts() []string {
	if len(d.untold) == 0 {
		return d.told
	}
	more, spaces := 0, slices.SortedFunc(maps.Keys(d.untold), func(a, b string) int {
		return cmp.Or(cmp.Compare(d.untold[b], d.untold[a]), strings.Compare(a, b))
	})
	for _, n := range d.untold {
		more += n
	}
	if spaces[0] == "" { // of no pod
		return append(slices.Clone(d.told), fmt.Sprintf("%d more doubts about pods", more))
	}
	return append(slices.Clone(d.told), fmt.Sprintf("%d more doubts about pods, %d of them in the namespace %s", more, d.untold[spaces[0]], spaces[0]))
}
