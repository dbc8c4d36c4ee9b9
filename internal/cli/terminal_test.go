package cli_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
)

// display is a stream that can be read while it is written.
type display struct {
	mu   sync.Mutex
	text strings.Builder
}

func (d *display) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(p)
}

func (d *display) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.String()
}

// terminal is a person at a terminal.
type terminal struct {
	process        cli.Process
	stdout, stderr display
	signals        chan<- os.Signal
	code           chan int
}

// atTerminal runs gpupool in this process, with both streams on a terminal.
func (w *world) atTerminal(width, height int, env map[string]string, args ...string) *terminal {
	term := &terminal{code: make(chan int, 1)}
	environment := map[string]string{"GPUPOOL_STORE": "directory:" + filepath.Join(w.dir, ".gpupool"), "TERM": "xterm"}
	for _, assignment := range w.environment() {
		name, value, _ := strings.Cut(assignment, "=")
		environment[name] = value
	}
	for name, value := range env {
		environment[name] = value
	}
	listening := make(chan struct{})
	term.process = cli.Process{
		Args: args, Getenv: func(name string) string { return environment[name] },
		Stdin: strings.NewReader(""), Stdout: &term.stdout, Stderr: &term.stderr,
		Terminal: func(io.Writer) (int, int, bool) { return width, height, width > 0 },
		Signals: func(c chan<- os.Signal) func() {
			term.signals = c
			close(listening)
			return func() {}
		},
		Exit: func(code int) { w.tb.Errorf("ended at once, with %d", code) },
		Now:  time.Now,
	}
	go func() { term.code <- cli.Run(term.process) }()
	<-listening
	return term
}

func (term *terminal) exitCode(t *testing.T) int {
	t.Helper()
	select {
	case code := <-term.code:
		return code
	case <-time.After(30 * time.Second):
		t.Fatal("it does not end")
		return 0
	}
}

func TestStatusOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.create("train", 2, 3)
	colored := w.atTerminal(120, 40, nil, "status")
	if code := colored.exitCode(t); code != 0 || !strings.Contains(colored.stdout.String(), "██████████ 2") ||
		!strings.Contains(colored.stdout.String(), "\x1b[32mInSync\x1b[0m") {
		t.Errorf("exit code %d\n%q\n%s", code, colored.stdout.String(), colored.stderr.String())
	}
	for _, env := range []map[string]string{{"NO_COLOR": "1"}, {"TERM": "dumb"}} {
		sober := w.atTerminal(120, 40, env, "status")
		if code := sober.exitCode(t); code != 0 || strings.Contains(sober.stdout.String(), "\x1b[") {
			t.Errorf("%v: exit code %d\n%q", env, code, sober.stdout.String())
		}
	}
}

// Followed on a terminal, each look is drawn over the one before, and within
// the terminal's size.
func TestStatusIsRedrawn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	for _, name := range []string{"a", "b", "c", "d"} {
		w.create(name, 1, 2)
	}
	term := w.atTerminal(40, 6, map[string]string{"NO_COLOR": "1"}, "status", "-w", "--interval", "100ms")
	eventually(t, "two looks", func() bool { return strings.Contains(term.stdout.String(), "\x1b[5A\r\x1b[J") })
	term.signals <- syscall.SIGINT
	if code := term.exitCode(t); code != 130 {
		t.Errorf("exit code %d", code)
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(term.stdout.String(), "\r\x1b[J"), "\x1b[5A")
	lines := strings.Split(strings.TrimSuffix(first, "\n"), "\n")
	if len(lines) != 5 || !strings.Contains(lines[4], "3 more lines") {
		t.Fatalf("%d lines:\n%s", len(lines), first)
	}
	if !strings.Contains(lines[2], "STATE") || !strings.Contains(lines[3], "InSync") {
		t.Errorf("how the pools stand is not shown:\n%s", first)
	}
	for _, line := range lines {
		if n := len([]rune(line)); n >= 40 {
			t.Errorf("a line of %d columns on a terminal of 40: %q", n, line)
		}
	}
}

// While launches settle a terminal shows a line that changes, and takes it away
// before the report.
func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.create("train", 1, 2)
	w.reclaim("train")
	w.fault(cvmsim.Fault{Kind: cvmsim.FaultSlow, Action: "RunInstances", Delay: cvmsim.Duration(time.Second)})
	term := w.atTerminal(60, 20, nil, "reconcile", "--wait")
	if code := term.exitCode(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, term.stderr.String())
	}
	shown := term.stderr.String()
	if !strings.Contains(shown, "ap-singapore/train: launch 1 spot GN7.2XLARGE32") || !strings.HasSuffix(shown, "\r\x1b[K") || strings.Contains(shown, "\n") {
		t.Errorf("progress: %q", shown)
	}
	for line := range strings.SplitSeq(shown, "\r\x1b[K") {
		if n := len([]rune(line)); n >= 60 {
			t.Errorf("a line of %d columns: %q", n, line)
		}
	}
	if !strings.Contains(term.stdout.String(), "\x1b[32mlaunched\x1b[0m 1 spot") {
		t.Errorf("report: %q", term.stdout.String())
	}
}

// Elsewhere there are plain lines, and none of what is quick.
func TestProgressElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.create("train", 1, 2)
	w.reclaim("train")
	w.fault(cvmsim.Fault{Kind: cvmsim.FaultSlow, Action: "RunInstances", Delay: cvmsim.Duration(2500 * time.Millisecond)})
	slow := w.atTerminal(0, 0, nil, "reconcile")
	if code := slow.exitCode(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if shown := slow.stderr.String(); !strings.HasPrefix(shown, "ap-singapore/train: launch 1 spot GN7.2XLARGE32 in ap-singapore-") ||
		strings.Count(shown, "\n") != 1 {
		t.Errorf("progress: %q", shown)
	}
	quick := w.atTerminal(0, 0, nil, "reconcile")
	if code := quick.exitCode(t); code != 0 || quick.stderr.String() != "" {
		t.Errorf("exit code %d, progress: %q", code, quick.stderr.String())
	}
}

// TestMessagesFitIntoATerminal without a broken word.
func TestMessagesFitIntoATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.create("train", 1, 2)
	if code := w.atTerminal(0, 0, nil, "request", "hold", "train", "--duration", "1h", "--reason", "maintenance").exitCode(t); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	for _, args := range [][]string{{"status", "no-such-pool"}, {"history", "--kind", "no-such-kind"}, {"jobs"}} {
		term := w.atTerminal(70, 40, nil, args...)
		_ = term.exitCode(t)
		shown := term.stdout.String() + term.stderr.String()
		for line := range strings.Lines(shown) {
			if n := len([]rune(strings.TrimSpace(line))); n > 70 {
				t.Errorf("gpupool %s: a line of %d columns: %q", strings.Join(args, " "), n, line)
			}
		}
		if strings.Count(shown, "\n") < 2 {
			t.Errorf("gpupool %s: %q", strings.Join(args, " "), shown)
		}
	}
}
