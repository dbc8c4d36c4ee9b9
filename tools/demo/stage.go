package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/tools/local"
)

// stage is what the demo plays on: a working directory of its own, a local CVM,
// and the environment that points Terraform and gpupool at both.
type stage struct {
	out       io.Writer // what a reader sees
	dir       string
	gpupoolAt string
	terraAt   string
	env       []string
	cvm       *local.CVM
	cluster   *cluster // nil in a part without one
	machines  *machines
	taken     string // the instance that the cloud takes back with notice
	verbose   bool   // gpupool logs each call
}

// newStage lays the provider where terraform init finds it, copies the
// configuration, and starts the local CVM.
func newStage(ctx context.Context, out io.Writer, gpupool, terraform, configuration string) (*stage, error) {
	if gpupool == "" || terraform == "" {
		return nil, errors.New("GPUPOOL_BIN and TERRAFORM must name the built binary and terraform or tofu: run it by make demo")
	}
	dir, err := os.MkdirTemp("", "gpupool-demo-")
	if err != nil {
		return nil, err
	}
	s := &stage{out: out, dir: dir, gpupoolAt: gpupool, terraAt: terraform}
	for _, prepare := range []func() error{
		func() error { return os.CopyFS(filepath.Join(dir, "work"), os.DirFS(configuration)) },
		s.layProvider,
		func() error { return s.startCVM(ctx) },
	} {
		if err := prepare(); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

// layProvider lays the provider where terraform init finds it without a network.
func (s *stage) layProvider() error {
	rc, err := local.Mirror(s.dir, local.Provider{Source: "gpupool/gpupool", Version: "0.0.1", Binary: s.gpupoolAt})
	s.env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+rc, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1",
		"GPUPOOL_STORE=directory:"+filepath.Join(s.dir, "store"))
	return err
}

// startCVM starts the local CVM and takes over the environment that it prints.
func (s *stage) startCVM(ctx context.Context) error {
	// Its log of calls would only get in between.
	log, err := os.Create(filepath.Join(s.dir, "simulate.log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the process has its own handle
	if s.cvm, err = local.StartCVM(ctx, s.gpupoolAt, log); err != nil {
		said, _ := os.ReadFile(log.Name())
		return fmt.Errorf("%w\n%s", err, said)
	}
	s.env = append(s.env, s.cvm.Env...)
	fmt.Fprintln(s.out, "The local CVM serves at", s.cvm.Endpoint)
	return nil
}

// close stops the local CVM and removes the demo's files. When the demo failed
// on the way, the instances end with the local CVM, which keeps them in memory.
func (s *stage) close() error {
	var failure error
	if s.machines != nil {
		failure = s.machines.stop()
	}
	left := errors.Join(failure, s.leaveCluster())
	if s.cvm != nil {
		s.cvm.Stop()
	}
	return errors.Join(left, os.RemoveAll(s.dir))
}

func (s *stage) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = filepath.Join(s.dir, "work"), s.env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

// show runs a command with its output in view, behind the line that ran it.
func (s *stage) show(cmd *exec.Cmd) error {
	fmt.Fprintf(s.out, "\n   $ %s %s\n", filepath.Base(cmd.Path), strings.Join(cmd.Args[1:], " "))
	if cmd.Stdout == nil {
		cmd.Stdout = s.out
	}
	cmd.Stderr = s.out
	return cmd.Run()
}

// keep shows a command, and returns what it printed.
func (s *stage) keep(cmd *exec.Cmd) (string, error) {
	var kept strings.Builder
	cmd.Stdout = &kept
	err := s.show(cmd)
	fmt.Fprint(s.out, kept.String()) // only now, since stderr went there meanwhile
	return kept.String(), err
}

func (s *stage) gpupool(ctx context.Context, args ...string) error {
	if s.verbose {
		args = append(args, "-vv")
	}
	return s.show(s.command(ctx, s.gpupoolAt, args...))
}

func (s *stage) terraform(ctx context.Context, args ...string) error {
	if !colours(s.out) {
		args = append(args, "-no-color")
	}
	return s.show(s.command(ctx, s.terraAt, args...))
}

// terraformQuietly shows the output only where the command fails.
func (s *stage) terraformQuietly(ctx context.Context, args ...string) error {
	output, err := s.command(ctx, s.terraAt, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("terraform %s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return nil
}

// terraformChanges shows a plan, and fails where it holds no change.
func (s *stage) terraformChanges(ctx context.Context) error {
	err := s.terraform(ctx, "plan", "-input=false", "-detailed-exitcode")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 2 {
		return nil
	}
	if err == nil {
		return errors.New("the plan holds no change")
	}
	return err
}

// control tells the local CVM what to do.
func (s *stage) control(ctx context.Context, what, body string) error {
	fmt.Fprintf(s.out, "\n   POST /_sim/%s %s\n", what, body)
	return s.post(ctx, what, body)
}

// post is control without a word about it, for beside what is shown.
func (s *stage) post(ctx context.Context, what, body string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.cvm.Endpoint+"/_sim/"+what, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", response.Status, answer)
	}
	return nil
}

// instance is one of the cloud's, as the local CVM itself shows it.
type instance struct {
	ID    string `json:"instance_id"`
	State string `json:"state"`
}

// instances are those that the local CVM has, the oldest first.
func (s *stage) instances(ctx context.Context) ([]instance, error) {
	var answer struct {
		Instances []instance `json:"instances"`
	}
	err := s.ask(ctx, "instances", &answer)
	return answer.Instances, err
}

// cloudTime is what the cloud's clock reads.
func (s *stage) cloudTime(ctx context.Context) (time.Time, error) {
	var answer struct {
		Now time.Time `json:"now"`
	}
	err := s.ask(ctx, "clock", &answer)
	return answer.Now, err
}

// ask asks the local CVM itself.
func (s *stage) ask(ctx context.Context, what string, answer any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.cvm.Endpoint+"/_sim/"+what, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return json.NewDecoder(response.Body).Decode(answer)
}

// expectInstances shows how many instances there are.
func (s *stage) expectInstances(ctx context.Context, want int) error {
	instances, err := s.instances(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "\n   Instances in the cloud: %d\n", len(instances))
	for _, i := range instances {
		fmt.Fprintf(s.out, "     %s %s\n", i.ID, i.State)
	}
	if len(instances) != want {
		return fmt.Errorf("%d instances were expected", want)
	}
	return nil
}
