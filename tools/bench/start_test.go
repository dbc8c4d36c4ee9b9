//go:build unix

package bench

import (
	"os/exec"
	"testing"
	"time"
)

// BenchmarkStart compares the start of the CLI up to its first output with terraform's.
func BenchmarkStart(b *testing.B) {
	gpupool := program(b, "GPUPOOL_BIN")
	start := func(name string, command ...string) run {
		return run{name, func() figures { return firstOutput(b, command) }}
	}
	compare(b, start("terraform-version", program(b, "TERRAFORM"), "version"), start("true", "true"),
		start("version", gpupool, "version"), start("help", gpupool, "--help"), start("reconcile-help", gpupool, "reconcile", "--help"))
}

// firstOutput is the least time of several starts, from the process's start to its first byte
// of output, or to its end without output.
func firstOutput(b *testing.B, command []string) figures {
	b.Helper()
	const starts = 7
	least := time.Hour
	for range starts {
		cmd := exec.CommandContext(b.Context(), command[0], command[1:]...)
		stdout, err := cmd.StdoutPipe()
		check(b, err)
		started := time.Now()
		check(b, cmd.Start())
		_, _ = stdout.Read(make([]byte, 1))
		least = min(least, time.Since(started))
		_ = cmd.Wait() // it may have more output
	}
	return figures{"s": least.Seconds()}
}
