//go:build unix

package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"
)

const starts = 21

// measureStart measures the CLI's start to its first output.
func measureStart(ctx context.Context, b *bench) error {
	fmt.Println("| command | median of 21 | beside `terraform version` | beside `true` |")
	fmt.Println("|---|---|---|---|")
	for _, args := range [][]string{{"version"}, {"--help"}, {"reconcile", "--help"}} {
		var ours, terraform, nothing []time.Duration
		for range starts {
			for _, m := range []struct {
				cmd  *exec.Cmd
				into *[]time.Duration
			}{
				{exec.CommandContext(ctx, b.gpupool, args...), &ours},
				{exec.CommandContext(ctx, b.terraform, "version"), &terraform},
				{exec.CommandContext(ctx, "true"), &nothing},
			} {
				took, err := firstOutput(m.cmd)
				if err != nil {
					return err
				}
				*m.into = append(*m.into, took)
			}
		}
		fmt.Printf("| gpupool %v | %.1f ms | %.2f | %.1f |\n", args, float64(median(ours).Microseconds())/1000,
			median(ours).Seconds()/median(terraform).Seconds(), median(ours).Seconds()/median(nothing).Seconds())
	}
	return nil
}

// firstOutput is the time from a process's start to its first byte of output,
// or to its end where it writes none.
func firstOutput(cmd *exec.Cmd) (time.Duration, error) {
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	started := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_, _ = stdout.Read(make([]byte, 1))
	took := time.Since(started)
	_ = cmd.Wait()
	return took, nil
}
