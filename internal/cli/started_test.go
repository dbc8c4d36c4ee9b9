package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// started is a gpupool that runs next to the test. Its streams go to files, which
// can be read meanwhile.
type started struct {
	*exec.Cmd
	streams string
}

// start starts gpupool in the world's directory.
func (w *world) start(args ...string) *started {
	w.tb.Helper()
	p := &started{Cmd: exec.CommandContext(context.Background(), "gpupool", args...), streams: w.tb.TempDir()}
	w.mu.Lock()
	w.streams = append(w.streams, p.streams)
	w.mu.Unlock()
	p.Dir, p.Env = w.dir, append(w.environment(), "PATH="+os.Getenv("PATH"))
	for name, stream := range map[string]*io.Writer{"stdout": &p.Stdout, "stderr": &p.Stderr} {
		f, err := os.Create(filepath.Join(p.streams, name))
		if err != nil {
			w.tb.Fatal(err)
		}
		defer f.Close()
		*stream = f
	}
	if err := p.Start(); err != nil {
		w.tb.Fatal(err)
	}
	w.tb.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// stdout and stderr are what was written so far.
func (p *started) stdout() string { return p.stream("stdout") }
func (p *started) stderr() string { return p.stream("stderr") }

func (p *started) stream(name string) string {
	data, err := os.ReadFile(filepath.Join(p.streams, name))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func (p *started) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// exitCode waits for the end.
func (p *started) exitCode(t *testing.T) int {
	t.Helper()
	err := p.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.ProcessState.ExitCode()
}

// eventually waits for something that another process does.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 30 seconds", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (w *world) calls(action string) int {
	n := 0
	for _, c := range w.sim.Server.Calls() {
		if c.Action == action {
			n++
		}
	}
	return n
}

func (w *world) fault(f cvmsim.Fault) {
	w.tb.Helper()
	if _, err := w.sim.Server.AddFault(f); err != nil {
		w.tb.Fatal(err)
	}
}

func (w *world) reclaim(pool string) {
	w.tb.Helper()
	if _, err := w.sim.Server.Reclaim(cvmsim.ReclaimRequest{Pool: pool}); err != nil {
		w.tb.Fatal(err)
	}
}

func (p *started) report(t *testing.T) reconcile.Report {
	t.Helper()
	var report reconcile.Report
	if err := json.Unmarshal([]byte(p.stdout()), &report); err != nil {
		t.Fatalf("standard output is no report: %v\n%s\n%s", err, p.stdout(), p.stderr())
	}
	return report
}
