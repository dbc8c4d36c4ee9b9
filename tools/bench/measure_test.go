//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain lets the tests' own program run what is measured, as bench does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == measuredCommand {
		if err := run(context.Background(), os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestALargeParentDoesNotCount(t *testing.T) {
	t.Parallel()
	large := make([]byte, 256<<20)
	for i := 0; i < len(large); i += 4096 {
		large[i] = 1
	}
	c, out, err := measure(exec.CommandContext(t.Context(), "echo", "hello"))
	if err != nil || string(out) != "hello\n" {
		t.Fatalf("%q, %v", out, err)
	}
	if c.memory == 0 || c.memory > int64(len(large))/2 {
		t.Errorf("echo took %s, its parent has %d MB", megabytes(c.memory), len(large)>>20)
	}
	if c.wall <= 0 {
		t.Errorf("it took %s", c.wall)
	}
}

func TestAFailedCommandIsAnError(t *testing.T) {
	t.Parallel()
	_, _, err := measure(exec.CommandContext(t.Context(), "sh", "-c", "echo out; echo err >&2; exit 3"))
	if err == nil || !strings.Contains(err.Error(), "out") || !strings.Contains(err.Error(), "err") || !strings.Contains(err.Error(), "exit status 3") {
		t.Error(err)
	}
}
