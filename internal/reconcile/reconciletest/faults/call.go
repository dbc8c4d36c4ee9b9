// Package faults plays what cuts processes short: it kills them at their calls, and has
// calls fail before and after they take effect.
//
// Each port of a fake or wrapped world makes its calls through hooks (Hook, Through). A
// Process is one of them, and so are the checks and logs of a world. A Fault is plain
// data, to be listed in tables, enumerated from a trace (Kills) or drawn at random. An
// Operation plays under each fault of a list.
package faults

import (
	"context"
	"errors"
	"slices"
)

// Call is one call of a port.
type Call struct {
	// Name is that of the method; the store's calls of documents also name the kind, as in
	// "Write ledger".
	Name string
	// Args are its arguments, without the context, if the world passes them on.
	Args []any
	// Answer points to the result that the call is going to return; nil if there is none.
	Answer any
}

// Hook takes the place of a call, which do makes. It may come from several goroutines.
type Hook func(ctx context.Context, c Call, do func() error) error

// Before is a hook that runs f before each call, with the call's name.
func Before(f func(name string)) Hook {
	return func(_ context.Context, c Call, do func() error) error {
		f(c.Name)
		return do()
	}
}

// Through makes a call through hooks, the first of which is the outermost; nil ones are
// left out.
func Through(ctx context.Context, hooks []Hook, c Call, do func() error) error {
	for _, hook := range slices.Backward(hooks) {
		if next := do; hook != nil {
			do = func() error { return hook(ctx, c, next) }
		}
	}
	return do()
}

// Get is Through for a call that returns a value, which is zero if the response is lost.
func Get[T any](ctx context.Context, hooks []Hook, c Call, do func() (T, error)) (answer T, err error) {
	c.Answer = &answer
	err = Through(ctx, hooks, c, func() (err error) { answer, err = do(); return err })
	if errors.Is(err, ErrKilled) || errors.Is(err, ErrUnanswered) {
		return *new(T), err
	}
	return answer, err
}
