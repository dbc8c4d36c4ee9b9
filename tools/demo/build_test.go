package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fifo creates a named pipe: a process that opens it waits for the one at the other end.
func fifo(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestStoryWaitsForTheBuild enters a cluster while Kubernetes is built, and after that.
func TestStoryWaitsForTheBuild(t *testing.T) {
	t.Parallel()
	goOn := fifo(t)
	b, err := startBuild(t.Context(), "echo 1 of 2 packages; read line <"+goOn+"; echo Built Kubernetes; nice")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.stop)
	out := &transcript{}
	ended := make(chan error, 1)
	out.wrote = func(all string) {
		if strings.HasSuffix(all, "in the background:\n") {
			go func() { ended <- os.WriteFile(goOn, []byte("go on\n"), 0o600) }()
		}
	}
	if err := errors.Join(b.wait(t.Context(), out), <-ended); err != nil {
		t.Fatal(err)
	}
	if all := out.String(); !strings.HasSuffix(all, "\n"+lowest+"\n") {
		t.Errorf("a story shows of the build, which prints its priority at its end:\n%s", all)
	}
	again := &transcript{}
	if err := b.wait(t.Context(), again); err != nil || again.String() != "" {
		t.Errorf("a story after the build shows %q: %v", again, err)
	}
}

func TestFailedBuildIsReportedByTheStoryThatNeedsIt(t *testing.T) {
	t.Parallel()
	b, err := startBuild(t.Context(), "echo 1 of 2 packages; echo main.go:1: undefined >&2; exit 2")
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{out: &transcript{}, dir: t.TempDir(), kubernetes: b}
	story := filepath.Join(t.TempDir(), "cluster.txt")
	if err := os.WriteFile(story, []byte("cluster\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err = s.play(t.Context(), story, "../../examples")
	if err == nil || !strings.Contains(err.Error(), "building Kubernetes: exit status 2\nmain.go:1: undefined") {
		t.Errorf("the story ends with %v", err)
	}
}

// TestStoppedBuildLeavesNoProcess stops builds of which a process has a pipe open until it ends.
func TestStoppedBuildLeavesNoProcess(t *testing.T) {
	t.Parallel()
	for name, trap := range map[string]string{"interrupted": "", "ignores the interrupt": "trap '' INT; "} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			held := fifo(t)
			ctx, interrupt := context.WithCancel(t.Context())
			b, err := startBuild(ctx, trap+"sleep 600 >"+held+"; true")
			if err != nil {
				t.Fatal(err)
			}
			pipe, err := os.Open(held) // once the process has it
			if err != nil {
				t.Fatal(err)
			}
			defer pipe.Close()
			interrupt()
			if err := b.wait(ctx, &transcript{}); !errors.Is(err, context.Canceled) {
				t.Errorf("a story that waits for it ends with %v", err)
			}
			b.stop()
			if _, err := io.ReadAll(pipe); err != nil { // until the process has ended
				t.Fatal(err)
			}
		})
	}
}
