//go:build unix

package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

// arguments are those of a command, the program's path first.
func (b *Binaries) arguments(c Command) []string {
	args := map[Verb][]string{
		Apply:     {b.Terraform, "apply", "-auto-approve", "-input=false", "-no-color", "-lock-timeout=10s"},
		Destroy:   {b.Terraform, "destroy", "-auto-approve", "-input=false", "-no-color", "-lock-timeout=10s"},
		Import:    {b.Terraform, "import", "-input=false", "-no-color", address, PoolKey.Name},
		Refresh:   {b.Terraform, "apply", "-refresh-only", "-auto-approve", "-input=false", "-no-color"},
		Reconcile: {b.GPUPool, "reconcile", "-o", "json", "--timeout", ReconcileTimeout.String()},
	}[c.Verb]
	for arg, is := range map[string]bool{
		"-refresh=false": c.Stale, "--wait": c.Wait, "--lock-timeout=" + RunLockTimeout.String(): c.Beside,
	} {
		if is {
			args = append(args, arg)
		}
	}
	return args
}

// Run runs a command as a process, in a process group of its own.
func (b *Binaries) Run(ctx context.Context, c Command, of *Process) (e Ending, err error) {
	if c.Verb != Reconcile {
		if err := b.configure(c.Terms); err != nil {
			return e, err
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return e, err
	}
	server := &http.Server{Handler: of, ReadHeaderTimeout: time.Minute}
	defer server.Close()
	go func() { _ = server.Serve(listener) }() // ends with Close
	var out bytes.Buffer
	args := b.arguments(c)
	r := &running{Cmd: exec.CommandContext(ctx, args[0], args[1:]...)}
	r.Dir, r.Env, r.Stdout, r.Stderr = b.work(), b.environment("http://"+listener.Addr().String()), &out, &out
	r.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.Cancel = func() error { return syscall.Kill(-r.Process.Pid, syscall.SIGKILL) }
	r.WaitDelay = Orphaned
	if err := r.run(of); err != nil {
		return e, err
	}
	e.Code, e.Text = r.ProcessState.ExitCode(), out.String()
	if start := strings.Index(e.Text, "{\n"); c.Verb == Reconcile && start >= 0 && e.Code >= 0 {
		if err := json.NewDecoder(strings.NewReader(e.Text[start:])).Decode(&e.Report); err != nil {
			return e, fmt.Errorf("the report of gpupool reconcile can't be read: %w\n%s", err, e.Text)
		}
	}
	return e, nil
}

// running is a process that can be killed from its start to its end.
type running struct {
	*exec.Cmd

	mu   sync.Mutex
	over bool
}

// run runs the process to its end, and ends what may go on of its group.
func (r *running) run(of *Process) error {
	r.mu.Lock() // a process is only killed after its start
	of.Begin(false, r.kill)
	err := r.Start()
	r.over = err != nil
	r.mu.Unlock()
	if err != nil {
		return err
	}
	_ = r.Wait() // its state is read
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	if victim := of.Killed(); victim != "" {
		if victim == schedule.Core {
			time.Sleep(Orphaned)
		}
		_ = syscall.Kill(-r.Process.Pid, syscall.SIGKILL) // there may be none
	}
	return nil
}

func (r *running) kill(victim schedule.Victim) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return ErrOver
	}
	pid := r.Process.Pid
	switch victim {
	case schedule.Core:
		return syscall.Kill(pid, syscall.SIGKILL)
	case schedule.Provider:
		child := childOf(pid)
		if child == 0 {
			return errors.New("there is no provider at the moment")
		}
		return syscall.Kill(child, syscall.SIGKILL)
	}
	return syscall.Kill(-pid, syscall.SIGKILL)
}

func childOf(pid int) int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "pgrep", "-P", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0
	}
	child, _ := strconv.Atoi(strings.TrimSpace(strings.SplitN(string(out), "\n", 2)[0]))
	return child
}
