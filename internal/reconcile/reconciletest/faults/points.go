package faults

import (
	"flag"
	"strings"
)

var everyFault = flag.Bool("every-fault", false, "play each kill and each fault, not only those of the spread")

// Every reports whether all rows of a matrix are asked for, and not only a spread.
func Every() bool { return *everyFault }

// Sample leaves out rows of a matrix if the race detector is on, unless all are asked for.
func Sample[T any](rows []T) []T {
	if Every() || sampled == 1 {
		return rows
	}
	var some []T
	for n := 0; n < len(rows); n += sampled {
		some = append(some, rows[n])
	}
	return some
}

// Kills returns the kills of an operation with these calls: right after each call that leaves
// something behind. Right before a call equals right after the one before it, and a kill after
// a read leaves what was there before it. With -every-fault, they are right before and right
// after each call. None is at a call without a name.
func Kills(trace []string) []Fault {
	var list []Fault
	for n, name := range trace {
		switch {
		case name == "":
		case Every():
			list = append(list, Fault{On: name, At: n + 1}, Fault{On: name, At: n + 1, After: true})
		case !looks(name):
			list = append(list, Fault{On: name, At: n + 1, After: true})
		}
	}
	return Sample(list)
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
