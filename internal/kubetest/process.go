package kubetest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// process is a running localkube. It ends when its standard input does, and
// so, at the latest, with this process.
type process struct {
	flags      []string
	kubeconfig string

	command *exec.Cmd
	stdin   io.Closer
}

// start runs localkube, and returns once it is ready.
func start(flags ...string) (*process, error) {
	binary, err := binary()
	if err != nil {
		return nil, err
	}
	p := &process{flags: flags}
	p.command = exec.CommandContext(context.Background(), binary, append([]string{"serve", "--until-stdin-closes"}, flags...)...)
	if p.stdin, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var stderr bytes.Buffer
	p.command.Stderr = &stderr
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", binary, err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	kubeconfig, ready := strings.CutPrefix(strings.TrimSpace(line), "ready kubeconfig=")
	if err != nil || !ready {
		p.stop()
		return nil, fmt.Errorf("%s was not ready: %w\n%s", binary, errors.Join(err, errors.New("its first line was "+line)), stderr.String())
	}
	p.kubeconfig = kubeconfig
	return p, nil
}

// stop ends the process and waits for it. To stop it twice is fine.
func (p *process) stop() {
	_ = p.stdin.Close() // how it ended is of no interest
	_ = p.command.Wait()
}

// binary returns the path of localkube: GPUPOOL_LOCALKUBE, else bin/localkube
// of the module in which the test runs.
func binary() (string, error) {
	if given := os.Getenv("GPUPOOL_LOCALKUBE"); given != "" {
		return given, exists(given)
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; exists(filepath.Join(dir, "go.mod")) != nil; dir = filepath.Dir(dir) {
		if dir == filepath.Dir(dir) {
			return "", errors.New("the test runs outside of its module, so bin/localkube cannot be found: set GPUPOOL_LOCALKUBE to its path")
		}
	}
	path := filepath.Join(dir, "bin", "localkube")
	return path, exists(path)
}

func exists(path string) error {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no %s: run make localkube", path)
	}
	return err
}
