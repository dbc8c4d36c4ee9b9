package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/tools/local"
)

// stage is what a story plays on: a directory of its own, a local CVM, and the
// environment that points Terraform and gpupool at both.
type stage struct {
	out                   io.Writer // what a reader sees
	gpupoolAt, terraAt    string
	localkube, kubeconfig string

	dir        string
	work       string // where the commands run
	env        []string
	cvm        *cvm
	cluster    *cluster // nil in a story without one
	kubernetes *build   // builds localkube; nil if it is built
	report     string   // the file of $REPORT
	serves     bool     // serve runs until Ctrl-C
	steps      int
	verbose    bool // gpupool logs each call

	background func(interrupted bool) error // waits for the command there; nil if there is none
}

// newStage puts the provider where terraform init finds it without a network, and
// starts the local CVM.
func newStage(out io.Writer, gpupool, terraform string) (*stage, error) {
	if gpupool == "" || terraform == "" {
		return nil, errors.New("GPUPOOL_BIN and TERRAFORM must name the built binary and terraform or tofu: run it by make demo")
	}
	dir, err := os.MkdirTemp("", "gpupool-demo-")
	if err != nil {
		return nil, err
	}
	s := &stage{out: out, dir: dir, work: filepath.Join(dir, "work"), report: filepath.Join(dir, "report.html"), gpupoolAt: gpupool, terraAt: terraform}
	rc, err := local.Mirror(dir, local.Provider{Source: "gpupool/gpupool", Version: "0.0.1", Binary: gpupool})
	if err == nil {
		s.cvm, err = startCVM(filepath.Join(dir, "simulate.log"))
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+rc, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1",
		"KUBECACHEDIR="+filepath.Join(dir, "kubectl"), "KUBERC=off",
		"PATH="+filepath.Dir(gpupool)+string(os.PathListSeparator)+os.Getenv("PATH"), "GPUPOOL_STORE=directory:"+filepath.Join(dir, "store"))
	s.env = append(s.env, s.cvm.env()...)
	if !colors(out) {
		s.env = append(s.env, "TF_CLI_ARGS=-no-color")
	}
	fmt.Fprintln(out, "\nThe local CVM serves at", s.cvm.endpoint)
	return s, nil
}

func colors(out io.Writer) bool { return os.Getenv("NO_COLOR") == "" && isTerminal(out) }

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// close stops what the story started, and removes its files. It may be called again.
func (s *stage) close() error {
	if s.background != nil {
		_ = s.background(true) // it was interrupted
	}
	err := s.leaveCluster()
	if s.cvm != nil {
		err = errors.Join(err, s.cvm.close())
	}
	s.cluster, s.cvm = nil, nil
	return errors.Join(err, os.RemoveAll(s.dir))
}

// command is a program with the story's environment. It has a process group of its own:
// Ctrl-C interrupts it once, by the demo, since Terraform loses its state at the second.
func (s *stage) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	switch name {
	case "gpupool":
		if name = s.gpupoolAt; s.verbose {
			args = append(args, "-vv")
		}
	case "terraform":
		name = s.terraAt
	case "kubectl":
		name = filepath.Join(filepath.Dir(s.localkube), name)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = s.work, s.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

func (s *stage) announce(words ...string) {
	line := strings.Join(words, " ")
	if rest, is := strings.CutPrefix(line, "terraform "); is {
		line = filepath.Base(s.terraAt) + " " + rest
	}
	fmt.Fprintf(s.out, "\n%s\n", strings.ReplaceAll(wrap("   $ "+line, "       "), "\n", " \\\n"))
}

// run runs a command line, and passes its standard error on as it comes.
func (s *stage) run(ctx context.Context, args []string, stdout io.Writer) error {
	cmd := s.command(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = stdout, s.out
	return cmd.Run()
}

// quietly runs a command line, and returns what it prints on standard output.
func (s *stage) quietly(ctx context.Context, args []string) ([]byte, error) {
	cmd := s.command(ctx, args[0], args[1:]...)
	var printed bytes.Buffer
	cmd.Stderr = &printed
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", strings.Join(args, " "), err, output, printed.Bytes())
	}
	return output, nil
}

// cvm is a local CVM in this process, so that Ctrl-C leaves it to the clean-up.
type cvm struct {
	endpoint string
	server   *httptest.Server
	world    *cvmsim.Server
	log      *os.File
}

// startCVM serves a local CVM, whose calls are logged to a file.
func startCVM(log string) (*cvm, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	world, err := cvmsim.New(cvmsim.Options{EnforceRates: true, CallLog: file})
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	server := httptest.NewServer(world)
	return &cvm{endpoint: server.URL, server: server, world: world, log: file}, nil
}

// env points Terraform and gpupool at the local CVM, as gpupool simulate does.
func (c *cvm) env() []string {
	return []string{
		"GPUPOOL_ENDPOINT=" + c.endpoint, "GPUPOOL_METADATA_ENDPOINT=" + c.endpoint, "TENCENTCLOUD_REGION=ap-singapore",
		"TENCENTCLOUD_SECRET_ID=" + cvmsim.DemoSecretID, "TENCENTCLOUD_SECRET_KEY=" + cvmsim.DemoSecretKey,
	}
}

// close ends the local CVM, and its instances with it.
func (c *cvm) close() error {
	c.server.CloseClientConnections()
	c.server.Close()
	return errors.Join(c.world.Close(), c.log.Close())
}
