package reconciletest

import (
	"flag"
	"fmt"
	"strings"
)

var everyFault = flag.Bool("every-fault", false, "play each kill and each fault, not only those of the spread")

// EveryFault reports whether all rows of a matrix are asked for, and not only a spread.
func EveryFault() bool { return *everyFault }

// Sample leaves out rows of a matrix if the race detector is on, unless all are asked for.
func Sample[T any](rows []T) []T {
	if EveryFault() || sampled == 1 {
		return rows
	}
	var some []T
	for n := 0; n < len(rows); n += sampled {
		some = append(some, rows[n])
	}
	return some
}

// Moment is when a process is killed: right before or right after an effect.
type Moment struct {
	At    int // from 1
	After bool
	Name  string
}

func (m Moment) String() string {
	return fmt.Sprintf("%s %d %s", map[bool]string{false: "before", true: "after"}[m.After], m.At, m.Name)
}

// Kill is a process that is killed at this moment.
func (m Moment) Kill() *Mortal { return &Mortal{KillAt: m.At, After: m.After} }

// Moments are those at which to kill an operation whose effects were these: right after
// each effect that leaves something behind. Right before one is right after the one before
// it, and who is killed after a look leaves what was there before it. Where every fault is
// asked for, it is right before and right after each effect.
func Moments(trace []string) []Moment {
	var list []Moment
	for n, name := range trace {
		switch {
		case EveryFault():
			list = append(list, Moment{n + 1, false, name}, Moment{n + 1, true, name})
		case !looks(name):
			list = append(list, Moment{n + 1, true, name})
		}
	}
	return Sample(list)
}

// Telling leaves those moments out whose effect is neither one of the first two nor the
// last of its name: what is done again and again while something settles is killed there
// alone.
func Telling(list []Moment) []Moment {
	count, last := map[string]int{}, map[string]int{}
	for _, m := range list {
		last[m.Name] = m.At
	}
	var telling []Moment
	before := 0
	for _, m := range list {
		if m.At != before {
			count[m.Name]++
		}
		before = m.At
		if count[m.Name] <= 2 || m.At == last[m.Name] {
			telling = append(telling, m)
		}
	}
	return telling
}

// looks tells whether an effect of this name changes nothing.
func looks(name string) bool {
	switch name {
	case "UID", "LivePods", "PodEvents", "Nodes", "NodePods", "GPUPods", "Stock", "StockOf", "PreviewStock":
		return true
	}
	return strings.HasPrefix(name, "Observe")
}
