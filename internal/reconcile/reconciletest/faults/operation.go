package faults

import (
	"slices"
	"testing"
)

// Operation is something that a fault may cut short, in a world of its own each time.
type Operation[W any] struct {
	Name string
	// Begin makes the world as it is before.
	Begin func(t *testing.T) W
	// Do does it by a process, and returns its result.
	Do func(w W, p *Process) error
	// Holds has others go on after a fault, and checks what must hold then.
	Holds func(w W, f Fault, err error)
	// Hits are the calls of a trace that faults may hit, with "" in place of the others; nil
	// is all of them.
	Hits func(trace []string) []string
}

// Trace does an operation without a fault, and returns the names of the calls that faults
// may hit.
func (o Operation[W]) Trace(t *testing.T) []string {
	t.Helper()
	w, p := o.Begin(t), &Process{}
	if err := o.Do(w, p); err != nil {
		t.Fatalf("without a fault: %v", err)
	}
	o.Holds(w, Fault{}, nil)
	if o.Hits != nil {
		return o.Hits(p.Trace())
	}
	return p.Trace()
}

// Play plays an operation under each fault, in parallel tests.
func (o Operation[W]) Play(t *testing.T, list ...Fault) {
	t.Helper()
	for _, f := range list {
		t.Run(f.String(), func(t *testing.T) {
			t.Parallel()
			w := o.Begin(t)
			o.Holds(w, f, o.Do(w, &Process{Fault: f}))
		})
	}
}

// PlayAll plays each operation under the faults that a trace of it leads to.
func PlayAll[W any](t *testing.T, operations []Operation[W], from func(o Operation[W], trace []string) []Fault) {
	t.Helper()
	for _, o := range operations {
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			o.Play(t, from(o, o.Trace(t))...)
		})
	}
}

// Once and Always fail a call before it takes effect: once, or as long as people and cron try.
// Lost and AlwaysLost fail it after that.
var (
	Once       = Fault{Times: 1}
	Lost       = Fault{Times: 1, After: true}
	Always     = Fault{Times: 1 << 30}
	AlwaysLost = Fault{Times: 1 << 30, After: true}
)

// Failing are faults of each call of a name, in each of some ways.
func Failing(names []string, ways ...Fault) []Fault {
	var list []Fault
	names = slices.Sorted(slices.Values(names))
	for _, name := range slices.Compact(names) {
		for _, way := range ways {
			if way.On = name; name != "" && (name != "Lock" || !way.After) { // a live process holds it, as after a kill
				list = append(list, way)
			}
		}
	}
	return list
}
