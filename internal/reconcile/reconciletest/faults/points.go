package faults

import (
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/soaktest"
)

// Kills returns the kills of an operation with these calls: right after each call that leaves
// something behind. Right before a call equals right after the one before it, and a kill after
// a read leaves what was there before it. In a soak, they are right before and right
// after each call. None is at a call without a name.
func Kills(trace []string) []Fault {
	var list []Fault
	for n, name := range trace {
		switch {
		case name == "":
		case soaktest.On():
			list = append(list, Fault{On: name, At: n + 1}, Fault{On: name, At: n + 1, After: true})
		case !looks(name):
			list = append(list, Fault{On: name, At: n + 1, After: true})
		}
	}
	return soaktest.Sample(list)
}

// Telling removes kills whose call is neither one of the first two nor the last of its name.
// Calls that repeat while something settles are only killed there.
func Telling(list []Fault) []Fault {
	count, last := map[string]int{}, map[string]int{}
	for _, f := range list {
		last[f.On] = f.At
	}
	var telling []Fault
	before := 0
	for _, f := range list {
		if f.At != before {
			count[f.On]++
		}
		before = f.At
		if count[f.On] <= 2 || f.At == last[f.On] {
			telling = append(telling, f)
		}
	}
	return telling
}

// looks reports whether a call of this name changes nothing.
func looks(name string) bool {
	switch name {
	case "UID", "LivePods", "PodEvents", "Freezes", "Owners", "Workload", "Autoscaler", "Nodes", "NodePods", "GPUPods", "Stock", "StockOf", "PreviewStock":
		return true
	}
	return strings.HasPrefix(name, "Observe")
}
