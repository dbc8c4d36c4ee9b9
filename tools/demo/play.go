package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
)

// play plays a story, whose configurations are under examples.
func (s *stage) play(ctx context.Context, story, examples string) error {
	examples, err := filepath.Abs(examples)
	if err != nil {
		return err
	}
	t := &outcome{}
	testscript.RunT(t, testscript.Params{
		Files:               []string{story},
		WorkdirRoot:         s.dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                s.commands(ctx),
		Setup: func(env *testscript.Env) error {
			s.work = env.WorkDir
			// Terraform and a cluster's credential plugins run as the reader runs them;
			// testscript wants its own directory first.
			env.Vars = append(env.Vars[:1:1], s.env...)
			env.Setenv("EXAMPLES", examples)
			env.Setenv("REPORT", s.report)
			return nil
		},
	})
	return t.failure
}

// outcome is the testing.T of a story that no test runs: it keeps the failure.
type outcome struct{ failure error }

var _ testscript.T = (*outcome)(nil)

// errFailed unwinds a story that has failed.
var errFailed = errors.New("the story has failed")

var failed = regexp.MustCompile(`(?s)FAIL: (.*?)\n*$`)

func (o *outcome) Run(_ string, story func(testscript.T)) {
	defer func() {
		if cause := recover(); cause != nil {
			if err, _ := cause.(error); !errors.Is(err, errFailed) {
				panic(cause)
			}
		}
	}()
	story(o)
}

func (o *outcome) FailNow() {
	if o.failure == nil {
		o.failure = errFailed
	}
	panic(errFailed)
}

func (o *outcome) Fatal(args ...any) {
	o.failure = errors.New(fmt.Sprint(args...))
	o.FailNow()
}

// Log gets the log of a story once it has ended. Readers have seen all but what failed.
func (o *outcome) Log(args ...any) {
	if at := failed.FindStringSubmatch(fmt.Sprint(args...)); at != nil {
		o.failure = errors.New(at[1])
	}
}

func (o *outcome) Skip(args ...any) { o.Fatal(args...) } // no story is skipped
func (*outcome) Parallel()          {}
func (*outcome) Verbose() bool      { return false }
