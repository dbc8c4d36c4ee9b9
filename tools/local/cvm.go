package local

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// CVM is a local CVM in a process of its own.
type CVM struct {
	Endpoint string
	// Env points Terraform and gpupool at it, as NAME=value.
	Env []string

	process *exec.Cmd
}

// StartCVM runs gpupool simulate at a free port, with further flags, until it is
// stopped or the context ends. Its log of calls goes to log; nil drops it.
func StartCVM(ctx context.Context, gpupool string, log io.Writer, flags ...string) (*CVM, error) {
	c := &CVM{process: exec.CommandContext(ctx, gpupool, append([]string{"simulate", "--listen", "127.0.0.1:0"}, flags...)...)}
	c.process.Cancel = func() error { return c.process.Process.Signal(syscall.SIGTERM) }
	c.process.WaitDelay = 5 * time.Second
	c.process.Stderr = log
	stdout, err := c.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.process.Start(); err != nil {
		return nil, err
	}
	if c.Env, c.Endpoint, err = environment(stdout); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// Stop ends the local CVM, and its instances with it.
func (c *CVM) Stop() {
	_ = c.process.Process.Signal(syscall.SIGTERM)
	_ = c.process.Wait() // it was told to end
}

// environment reads the export lines from the standard output of gpupool
// simulate, as NAME=value, and the endpoint among them. It returns once the
// local CVM serves, and drops what is printed later.
func environment(stdout io.Reader) (env []string, endpoint string, err error) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		assignment, found := strings.CutPrefix(lines.Text(), "export ")
		if !found {
			break
		}
		name, value, _ := strings.Cut(assignment, "=")
		value = strings.Trim(value, `'"`)
		env = append(env, name+"="+value)
		if name == "GPUPOOL_ENDPOINT" {
			endpoint = value
		}
		if name == "TENCENTCLOUD_REGION" { // the last of them
			break
		}
	}
	if endpoint == "" {
		return nil, "", errors.Join(errors.New("the local CVM named no endpoint"), lines.Err())
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	return env, endpoint, nil
}
