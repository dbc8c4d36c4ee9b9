package local

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Kubernetes is a local Kubernetes in a process of its own.
type Kubernetes struct {
	Kubeconfig string // path of the administrator's

	process *exec.Cmd
	stdin   io.Closer
}

// StartKubernetes runs localkube serve, with further flags, until it is stopped or
// the context ends. What it keeps is in dir. It returns once the cluster is ready.
func StartKubernetes(ctx context.Context, localkube, dir string, flags ...string) (*Kubernetes, error) {
	if localkube == "" {
		return nil, errors.New("GPUPOOL_LOCALKUBE must name the built localkube: run it by make")
	}
	k := &Kubernetes{process: exec.CommandContext(ctx, localkube, append([]string{"serve", "--until-stdin-closes", "--dir", dir}, flags...)...)}
	k.process.Cancel = func() error { return k.process.Process.Signal(os.Interrupt) } // so that it ends its own
	k.process.WaitDelay = 30 * time.Second
	k.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // else Ctrl-C would end it before what uses it
	var err error
	if k.stdin, err = k.process.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := k.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var said bytes.Buffer
	k.process.Stderr = &said
	if err := k.process.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	kubeconfig, ready := strings.CutPrefix(strings.TrimSpace(line), "ready kubeconfig=")
	if err != nil || !ready {
		k.Stop()
		return nil, fmt.Errorf("the local Kubernetes did not start: %w\n%s%s", errors.Join(err, errors.New("it was not ready")), line, said.Bytes())
	}
	k.Kubeconfig = kubeconfig
	return k, nil
}

// Stop ends the cluster.
func (k *Kubernetes) Stop() {
	_ = k.stdin.Close()
	_ = k.process.Wait() // it was told to end
}
