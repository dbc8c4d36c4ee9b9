//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/tools/local"
)

// bench has what every section needs: the programs, and a directory of its own.
type bench struct {
	dir, gpupool, terraform, timeProvider string
	rc                                    string // Terraform's CLI configuration; empty until it is needed
}

func newBench() (*bench, error) {
	b := &bench{gpupool: os.Getenv("GPUPOOL_BIN"), terraform: os.Getenv("TERRAFORM"), timeProvider: os.Getenv("TIME_PROVIDER_BIN")}
	if b.gpupool == "" || b.terraform == "" || b.timeProvider == "" {
		return nil, errors.New("GPUPOOL_BIN, TERRAFORM and TIME_PROVIDER_BIN must name programs: run it by make bench")
	}
	var err error
	b.dir, err = os.MkdirTemp("", "gpupool-bench-")
	return b, err
}

func (b *bench) close() { _ = os.RemoveAll(b.dir) }

// cost is what one process took.
type cost struct {
	wall, cpu time.Duration
	memory    int64 // peak, in bytes
}

// takeTurns runs over two stores in turns, and returns the run over each that took the
// least processor time. The first two turns don't count: they write journals and history.
func takeTurns(turns int, without, with string, run func(dir string) (reconciled, error)) (best [2]reconciled, err error) {
	const settling = 2
	for turn := range turns {
		for n, dir := range []string{without, with} {
			r, err := run(dir)
			if err != nil {
				return best, err
			}
			fmt.Fprintf(os.Stderr, "turn %d of %d: %s, %s, %s of processor time, %s\n", turn+1, turns, filepath.Base(dir), seconds(r.wall), seconds(r.cpu),
				megabytes(r.memory))
			if turn == settling || turn > settling && r.cpu < best[n].cpu {
				best[n] = r
			}
		}
	}
	return best, nil
}

// measured is what a process that ran a command reports of it.
type measured struct {
	Wall, CPU time.Duration
	Memory    int64
	Out       []byte
}

// measuredCommand has this program run the command behind it, and print what that took.
const measuredCommand = "measured"

// measure runs a command and returns what it took, and its stdout. This program runs it,
// started again: Linux counts the peak memory of the process that starts another as the
// other's, and this one has grown by the pods and instances that it made.
func measure(cmd *exec.Cmd) (cost, []byte, error) {
	self, err := os.Executable()
	if err != nil {
		return cost{}, nil, err
	}
	command := strings.Join(cmd.Args, " ")
	cmd.Path, cmd.Args = self, slices.Concat([]string{self, measuredCommand, cmd.Path}, cmd.Args[1:])
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return cost{}, nil, fmt.Errorf("%s: %w\n%s", command, err, errs.Bytes())
	}
	var m measured
	err = json.Unmarshal(out.Bytes(), &m)
	return cost{wall: m.Wall, cpu: m.CPU, memory: m.Memory}, m.Out, err
}

// runMeasured is the other side of measure.
func runMeasured(ctx context.Context, args []string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	started := time.Now()
	out, err := cmd.Output()
	m := measured{Wall: time.Since(started), Out: out}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		m.Memory = usage.Maxrss * 1024 // Linux counts in KiB
		m.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return json.NewEncoder(os.Stdout).Encode(m)
}

// cvm is a local CVM that is measured against.
type cvm struct{ *local.CVM }

// startCVM starts a local CVM; its rate limits are the cloud's.
func (b *bench) startCVM(ctx context.Context) (*cvm, error) {
	started, err := local.StartCVM(ctx, b.gpupool, nil, "--launch-delay", "50ms")
	return &cvm{started}, err
}

// env is the environment of what runs against it.
func (c *cvm) env() []string { return append(os.Environ(), c.Env...) }

func (c *cvm) control(ctx context.Context, method, what string, body, answer any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, c.Endpoint+"/_sim/"+what, bytes.NewReader(data))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%s %s: %s: %s", method, what, response.Status, text)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// calls counts the calls since the last reset, by action.
func (c *cvm) calls(ctx context.Context) (map[string]int, error) {
	var answer struct {
		Calls []struct {
			Action string `json:"action"`
		} `json:"calls"`
	}
	if err := c.control(ctx, http.MethodGet, "calls", nil, &answer); err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, call := range answer.Calls {
		counts[call.Action]++
	}
	return counts, nil
}

func (c *cvm) resetCalls(ctx context.Context) error {
	return c.control(ctx, http.MethodDelete, "calls", nil, nil)
}

func total(calls map[string]int) int {
	n := 0
	for _, count := range calls {
		n += count
	}
	return n
}

func median[T int64 | time.Duration | float64](list []T) T {
	list = slices.Clone(list)
	slices.Sort(list)
	return list[len(list)/2]
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
func megabytes(n int64) string       { return fmt.Sprintf("%.0f MB", float64(n)/1e6) }

// mirror lays the providers where terraform init finds them, and returns the CLI
// configuration that says so.
func (b *bench) mirror() (string, error) {
	var err error
	if b.rc == "" {
		b.rc, err = local.Mirror(b.dir, local.Provider{Source: "gpupool/gpupool", Version: "0.0.1", Binary: b.gpupool},
			local.Provider{Source: "hashicorp/time", Version: "0.13.1", Binary: b.timeProvider})
	}
	return b.rc, err
}
