package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// folders are those that containerd and the kubelet create, whatever their configuration says.
var folders = []string{"/var/lib/kubelet", "/var/log/containers", "/run/containerd", "/opt/containerd"}

// kernel are the settings that a kubelet changes.
var kernel = []string{
	"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
}

// machine has what the trial changes on this machine, and is to leave as it was. Files
// and mounts are in one directory of its own.
type machine struct {
	dir, programs string
	fail          context.CancelCauseFunc
	kernel        map[string][]byte
	created       []string // folders that did not exist
	processes     []*process
}

func openMachine(ctx context.Context, programs string) (*machine, error) {
	if conn, err := (&net.Dialer{}).DialContext(ctx, "unix", pluginapi.KubeletSocket); err == nil {
		_ = conn.Close()
		return nil, errors.New("a kubelet runs on this machine: stop it, or take a machine without one")
	}
	programs, err := filepath.Abs(programs)
	if err != nil {
		return nil, err
	}
	m := &machine{programs: programs, kernel: map[string][]byte{}}
	for _, folder := range folders {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			m.created = append(m.created, folder)
		}
	}
	for _, name := range kernel {
		value, err := os.ReadFile("/proc/sys/" + name)
		if err != nil {
			return nil, err
		}
		m.kernel[name] = value
	}
	m.dir, err = os.MkdirTemp("/var/lib", "kubelet-trial-") // a file system whose mounts can run programs
	return m, err
}

func (m *machine) path(names ...string) string {
	return filepath.Join(append([]string{m.dir}, names...)...)
}
func (m *machine) program(name string) string { return filepath.Join(m.programs, name) }

// write writes a file below the directory, and returns its path.
func (m *machine) write(name, text string) (string, error) {
	path := m.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, []byte(text), 0o644)
}

// process runs until the machine is closed; its end before that fails the trial.
type process struct {
	*exec.Cmd
	name  string
	ended chan struct{}
}

func (m *machine) start(priority int, name string, args ...string) error {
	log, err := os.Create(m.path(name + ".log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the process writes to it
	nice := append([]string{"-n", strconv.Itoa(priority), m.program(name)}, args...)
	p := &process{name: name, Cmd: command(context.Background(), "nice", nice...), ended: make(chan struct{})}
	p.Env = []string{"PATH=" + m.programs + ":/usr/sbin:/usr/bin:/sbin:/bin"} // containerd looks for its shim, and that for runc
	p.Stdout, p.Stderr = log, log
	if err := p.Start(); err != nil {
		return err
	}
	m.processes = append(m.processes, p)
	go func() {
		err := p.Wait()
		close(p.ended)
		m.fail(fmt.Errorf("%s ended: %w\n%s", name, err, tail(log.Name())))
	}()
	return nil
}

// until asks until there is no error.
func until(ctx context.Context, what string, ask func(context.Context) error) error {
	var last error
	if wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		last = ask(ctx)
		return last == nil, nil
	}) != nil {
		return fmt.Errorf("wait for %s: %w", what, errors.Join(last, context.Cause(ctx)))
	}
	return nil
}

// tail is the end of a log.
func tail(path string) string {
	text, _ := os.ReadFile(path)
	lines := strings.SplitAfter(string(text), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "")
}

// command is one that Ctrl-C does not reach.
func command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

func (p *process) stop() {
	_ = p.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(20 * time.Second):
		_ = p.Process.Kill()
		<-p.ended
	}
}

// close ends all processes, the latest first, and removes everything else.
func (m *machine) close() error {
	fmt.Println("Cleaning up.")
	for _, p := range slices.Backward(m.processes) {
		if p.name == "containerd" {
			m.removeContainers()
		}
		p.stop()
	}
	m.killRest()
	for _, pattern := range []string{"/sys/fs/cgroup/k8s.io", "/sys/fs/cgroup/*/k8s.io"} { // version 2, version 1
		groups, _ := filepath.Glob(pattern)
		for _, group := range groups {
			_ = os.Remove(group) // only an empty one
		}
	}
	errs := []error{m.unmount()}
	for name, value := range m.kernel {
		errs = append(errs, os.WriteFile("/proc/sys/"+name, value, 0))
	}
	if errors.Join(errs...) == nil { // else a mount's contents would be removed
		for _, folder := range append(m.created, m.dir) {
			errs = append(errs, os.RemoveAll(folder))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("clean up %s: %w", m.dir, err)
	}
	return nil
}

// killRest kills containers and shims that are left.
func (m *machine) killRest() {
	arguments, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range arguments {
		text, _ := os.ReadFile(file)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		args := strings.Split(string(text), "\x00")
		if args[0] == m.clock() || filepath.Base(args[0]) == "containerd-shim-runc-v2" && slices.Contains(args, m.path("containerd.sock")) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// unmount unmounts what is left below the directory and the created folders, the latest first.
func (m *machine) unmount() error {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	var errs []error
	for _, line := range slices.Backward(strings.Split(string(text), "\n")) {
		fields := strings.Fields(line)
		below := func(folder string) bool { return strings.HasPrefix(fields[4], folder+"/") }
		if len(fields) < 5 || !slices.ContainsFunc(append(m.created, m.dir), below) {
			continue
		}
		if out, err := command(context.Background(), "umount", "--lazy", fields[4]).CombinedOutput(); err != nil {
			errs = append(errs, fmt.Errorf("umount %s: %w\n%s", fields[4], err, out))
		}
	}
	return errors.Join(errs...)
}
