package providertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/tools/local"
)

// Directory is a working directory of the real Terraform, with the built provider and the
// world's store. Tests check what a terminal shows, mainly warnings, and run the CLI as well.
type Directory struct {
	tb testing.TB
	// Path is the directory itself.
	Path string
	env  []string
}

// Result is what a command did.
type Result struct {
	Code           int
	Stdout, Stderr string
}

// Terraform makes a working directory in this world. What is declared in it at the
// end of the test is destroyed.
func (w *World) Terraform() *Directory {
	w.tb.Helper()
	binary, terraform := programs(w.tb)
	at := w.tb.TempDir()
	rc, err := local.Override(at, binary)
	if err != nil {
		w.tb.Fatal(err)
	}
	bin := filepath.Join(at, "bin")
	d := &Directory{tb: w.tb, Path: filepath.Join(at, "work"), env: []string{
		"PATH=" + bin, "HOME=" + at, "TMPDIR=" + os.TempDir(), "TF_CLI_CONFIG_FILE=" + rc, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1",
		"GPUPOOL_ENDPOINT=" + w.Sim.URL, "GPUPOOL_STORE=directory:" + w.StoreDir,
		"TENCENTCLOUD_SECRET_ID=" + cvmsim.DemoSecretID, "TENCENTCLOUD_SECRET_KEY=" + cvmsim.DemoSecretKey, "TENCENTCLOUD_REGION=ap-singapore",
	}}
	if w.Cluster != nil {
		d.env = append(d.env, "KUBE_CONFIG_PATH="+w.Cluster.Kubeconfig(), "KUBECONFIG="+w.Cluster.Kubeconfig())
	}
	for _, dir := range []string{bin, d.Path} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			w.tb.Fatal(err)
		}
	}
	for name, target := range map[string]string{"terraform": terraform, "gpupool": binary} {
		if err := os.Symlink(target, filepath.Join(bin, name)); err != nil {
			w.tb.Fatal(err)
		}
	}
	d.Write("")
	w.tb.Cleanup(func() {
		d.Write("") // whatever was wrong in it
		d.Must("terraform", "destroy", "-auto-approve", "-input=false")
	})
	return d
}

// Setenv changes the environment of the commands to come.
func (d *Directory) Setenv(name, value string) { d.env = append(d.env, name+"="+value) }

// Write replaces the configuration.
func (d *Directory) Write(configuration string) {
	d.tb.Helper()
	const head = "terraform {\n  required_providers {\n    gpupool = { source = \"gpupool/gpupool\" }\n  }\n}\n"
	if err := os.WriteFile(filepath.Join(d.Path, "main.tf"), []byte(head+configuration), 0o600); err != nil {
		d.tb.Fatal(err)
	}
}

// Run runs terraform or gpupool.
func (d *Directory) Run(name string, args ...string) Result {
	d.tb.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(context.Background(), filepath.Join(d.Path, "..", "bin", name), args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = d.Path, d.env, &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		d.tb.Fatal(err)
	}
	return Result{Code: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
}

// Must is Run where anything but success ends the test.
func (d *Directory) Must(name string, args ...string) Result {
	d.tb.Helper()
	r := d.Run(name, args...)
	if r.Code != 0 {
		d.tb.Fatalf("%s %s ended with %d:\n%s%s", name, strings.Join(args, " "), r.Code, r.Stdout, r.Stderr)
	}
	return r
}

// Apply applies the configuration.
func (d *Directory) Apply() {
	d.tb.Helper()
	d.Must("terraform", "apply", "-auto-approve", "-input=false", "-no-color")
}

// Plan makes a plan and returns its warnings, and the pools' planned_actions by
// address. Arguments are added to those of every plan.
func (d *Directory) Plan(args ...string) (warnings []Message, actions map[string]PlannedActions) {
	d.tb.Helper()
	file := filepath.Join(d.tb.TempDir(), "tfplan")
	warnings = messages(d.tb, d.Must("terraform", append([]string{"plan", "-input=false", "-json", "-out=" + file}, args...)...).Stdout)
	var plan struct {
		ResourceChanges []struct {
			Address string
			Change  struct {
				Actions       []string
				Before, After *struct {
					PlannedActions []string `json:"planned_actions"`
				}
			}
		} `json:"resource_changes"`
	}
	if err := json.Unmarshal([]byte(d.Must("terraform", "show", "-json", file).Stdout), &plan); err != nil {
		d.tb.Fatal(err)
	}
	actions = map[string]PlannedActions{}
	for _, r := range plan.ResourceChanges {
		a := PlannedActions{Change: strings.Join(r.Change.Actions, ",")}
		if r.Change.Before != nil {
			a.Before = r.Change.Before.PlannedActions
		}
		if r.Change.After != nil {
			a.After = r.Change.After.PlannedActions
		}
		actions[r.Address] = a
	}
	return warnings, actions
}

// PlannedActions are those of a pool in a plan.
type PlannedActions struct {
	Change        string // "create", "update", "no-op", "delete,create"
	Before, After []string
}

// overridden is what each command warns of, since the built provider needs no terraform init.
const overridden = "Provider development overrides are in effect"

// Message is a diagnostic as Terraform prints it with -json.
type Message struct{ Severity, Summary, Detail, Address string }

func messages(tb testing.TB, stream string) []Message {
	tb.Helper()
	var all []Message
	for line := range strings.Lines(stream) {
		var message struct {
			Type       string
			Diagnostic Message
		}
		if err := json.Unmarshal([]byte(line), &message); err != nil {
			tb.Fatalf("%v: %s", err, line)
		}
		if message.Type == "diagnostic" && message.Diagnostic.Summary != overridden {
			all = append(all, message.Diagnostic)
		}
	}
	return all
}

// Diagnostics reads the diagnostics that a command printed with -json.
func (d *Directory) Diagnostics(r Result) []Message {
	d.tb.Helper()
	return messages(d.tb, r.Stdout)
}

// programs are the built binary and terraform or tofu. make test passes both; without
// it, the binary is built here, once.
func programs(tb testing.TB) (gpupool, terraform string) {
	tb.Helper()
	gpupool, terraform = os.Getenv("GPUPOOL_BIN"), os.Getenv("TF_ACC_TERRAFORM_PATH")
	if gpupool == "" {
		var err error
		if gpupool, err = build(); err != nil {
			tb.Fatal(err)
		}
	}
	for _, name := range []string{"terraform", "tofu"} {
		if found, err := exec.LookPath(name); terraform == "" && err == nil {
			terraform = found
		}
	}
	if terraform == "" {
		tb.Fatal("neither terraform nor tofu is on PATH: run this by make test, which builds one")
	}
	return gpupool, terraform
}

// built is the directory of the binary that was built here; empty where none was.
var built string

var build = sync.OnceValues(func() (binary string, err error) {
	if built, err = os.MkdirTemp("", "gpupool-*"); err != nil { // shared by the tests of a package, and removed by Main
		return "", err
	}
	binary = filepath.Join(built, "terraform-provider-gpupool")
	out, err := exec.CommandContext(context.Background(), "go", "build", "-o", binary, "github.com/gpupool/terraform-provider-gpupool").CombinedOutput()
	if err != nil {
		return "", errors.New("building gpupool: " + string(out))
	}
	return binary, nil
})
