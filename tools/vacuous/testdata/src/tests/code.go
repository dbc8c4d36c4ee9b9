// Package tests has code, and tests of it that the analyzer reports or accepts.
package tests

// Plan is what the code under test returns.
type Plan struct{ Decisions []Decision }

// Decision is an element of it.
type Decision struct {
	Kind  string
	Parts []string
}

// Decide returns a plan.
func Decide(situation string) (Plan, error) {
	return Plan{[]Decision{{Kind: situation, Parts: []string{situation}}}}, nil
}

// Kinds returns a list.
func Kinds() []string { return []string{"launch", "terminate"} }

// Check calls f once for each of some values, like rapid.Check.
func Check(t interface{ Helper() }, f func(T)) {
	t.Helper()
	f(t.(T))
}

// T is like rapid.T.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
}
