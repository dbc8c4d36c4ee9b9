package main

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

const (
	patience = 2 * time.Minute
	patent   = 2 * time.Second // after which a reader learns what is waited for
)

// waitFor observes until ok, and reports what it waits for if that takes long.
func (s *stage) waitFor(ctx context.Context, what string, observe func(context.Context) (ok bool, state string, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	said := false
	for started := time.Now(); ; sleep(ctx, 200*time.Millisecond) {
		ok, state, err := observe(ctx)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("waiting for %s, last observed %s: %w", what, state, ctx.Err())
		case ok || err != nil:
			return err
		case !said && time.Since(started) > patent:
			said = true
			fmt.Fprintf(s.out, "\n   (waiting for %s, for at most %s)\n", what, patience)
		}
	}
}

// sleep waits, or until the demo is stopped.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// item is an instance or a pod, as a story lists it.
type item struct {
	Name  string `json:"instance_id"`
	State string `json:"state"`
}

// await waits for the number of ready items in a line, and lists them under a title. It sets a
// variable to the name of the first.
func (s *stage) await(ctx context.Context, l line, kind, title, variable string, list func(context.Context) (all []item, ready bool, err error)) error {
	want, err := strconv.Atoi(l.args[0])
	if err != nil {
		return fmt.Errorf("%q is not a count", l.args[0])
	}
	var all []item
	err = s.waitFor(ctx, counted(want, kind), func(ctx context.Context) (ok bool, state string, err error) {
		all, ok, err = list(ctx)
		return ok && len(all) == want, fmt.Sprint(all), err
	})
	listing := fmt.Sprintf("\n   %s: %d\n", title, len(all))
	for _, i := range all {
		listing += fmt.Sprintf("     %s %s\n", i.Name, i.State)
	}
	fmt.Fprint(s.out, listing)
	fmt.Fprint(l.Stdout(), listing)
	if len(all) > 0 {
		l.Setenv(variable, all[0].Name)
	}
	return err
}

func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
