//go:build unix

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// children are what this program does, started again with a name and arguments.
var children = map[string]func(ctx context.Context, args []string) error{
	"measured": runMeasured, "scan": inChild(scan), "download": inChild(download),
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && children[os.Args[1]] != nil {
		if err := children[os.Args[1]](context.Background(), os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	// A row is measured before it is reported, and outside of this process.
	for name, value := range map[string]string{"test.benchtime": "1x", "test.benchmem": "false"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// self is this program.
var self, _ = os.Executable()

type measured struct {
	Took figures
	Out  []byte
}

// measure runs a command and returns its figures and its stdout. This program starts itself
// again to run it. Linux counts the peak memory of a parent as its child's, and this process
// has grown by the pods and instances that it made.
func measure(cmd *exec.Cmd) (figures, []byte, error) {
	command := strings.Join(cmd.Args, " ")
	cmd.Path, cmd.Args = self, slices.Concat([]string{self, "measured", cmd.Path}, cmd.Args[1:])
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w\n%s", command, err, errs.Bytes())
	}
	var m measured
	err := json.Unmarshal(out.Bytes(), &m)
	return m.Took, m.Out, err
}

func runMeasured(ctx context.Context, args []string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	started := time.Now()
	out, err := cmd.Output()
	m := measured{Took: figures{"s": time.Since(started).Seconds()}, Out: out}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		m.Took["peak-MB"] = float64(usage.Maxrss) * 1024 / 1e6 // Linux counts in KiB
		m.Took["cpu-s"] = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	}
	return json.NewEncoder(os.Stdout).Encode(m)
}

// must is measure where any failure ends the benchmark.
func must(b *testing.B, cmd *exec.Cmd) (figures, []byte) {
	b.Helper()
	took, out, err := measure(cmd)
	check(b, err)
	return took, out
}

func program(b *testing.B, variable string) string {
	b.Helper()
	path := os.Getenv(variable)
	if path == "" {
		b.Fatalf("%s must name a program: run this by make bench", variable)
	}
	return path
}
