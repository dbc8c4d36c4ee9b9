package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
)

// programs names the built binary and terraform or tofu. make test hands both
// in; without it the binary is built here.
func programs(t *testing.T) (gpupool, terraform string) {
	t.Helper()
	gpupool, terraform = os.Getenv("GPUPOOL_BIN"), os.Getenv("TERRAFORM")
	if gpupool == "" {
		gpupool = filepath.Join(t.TempDir(), "gpupool")
		if out, err := exec.Command("go", "build", "-o", gpupool, "../..").CombinedOutput(); err != nil {
			t.Fatalf("building gpupool: %v\n%s", err, out)
		}
	}
	for _, name := range []string{"terraform", "tofu"} {
		if found, err := exec.LookPath(name); terraform == "" && err == nil {
			terraform = found
		}
	}
	if terraform == "" {
		t.Fatal("neither terraform nor tofu is on PATH: run this by make test, which builds one")
	}
	return gpupool, terraform
}

func localkube(t *testing.T) string {
	t.Helper()
	if given := os.Getenv("GPUPOOL_LOCALKUBE"); given != "" {
		return given
	}
	built, err := filepath.Abs("../../bin/localkube")
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// transcript is what a story prints: the commands, and the programs that they start.
type transcript struct {
	sync.Mutex
	text  bytes.Buffer
	wrote func(all string) // may be nil
}

func (p *transcript) Write(text []byte) (int, error) {
	p.Lock()
	defer p.Unlock()
	n, err := p.text.Write(text)
	if p.wrote != nil {
		p.wrote(p.text.String())
	}
	return n, err
}

func (p *transcript) String() string {
	p.Lock()
	defer p.Unlock()
	return p.text.String()
}

// rehearsal is a stage of a test, which fails if closing it leaves something.
func rehearsal(t *testing.T, out *transcript) *stage {
	t.Helper()
	gpupool, terraform := programs(t)
	s, err := newStage(out, gpupool, terraform)
	if err != nil {
		t.Fatal(err)
	}
	s.localkube = localkube(t)
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
			t.Errorf("the demo leaves %s behind", s.dir)
		}
		if t.Failed() {
			t.Log(out)
		}
	})
	return s
}

func played(t *testing.T, s *stage, story string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if err := s.play(ctx, "stories/"+story+".txt", "../../examples"); err != nil {
		t.Fatal(err)
	}
}

// TestComplete plays the story of all: what it must show is in the story.
func TestComplete(t *testing.T) {
	t.Parallel()
	played(t, rehearsal(t, &transcript{}), "complete")
}

// TestPoolKeepsSecrets plays a story with the built binary from a filesystem mirror, at the
// most verbose level of everything. The secret key must not be in any output, log, state or
// record, and user data not in any output.
func TestPoolKeepsSecrets(t *testing.T) {
	t.Parallel()
	out := &transcript{}
	s := rehearsal(t, out)
	traces := filepath.Join(s.dir, "trace.log")
	s.env = append(s.env, "TF_LOG=TRACE", "TF_LOG_PATH="+traces)
	s.verbose = true
	played(t, s, "pool")
	secret := []byte(cvmsim.DemoSecretKey)
	userData := base64.StdEncoding.EncodeToString([]byte("#!/bin/sh\necho ready\n"))
	read := 0
	err := filepath.WalkDir(s.dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		read++
		if bytes.Contains(text, secret) {
			t.Errorf("%s holds the secret key", entry.Name())
		}
		if strings.HasSuffix(name, ".log") && bytes.Contains(text, []byte(userData)) {
			t.Errorf("%s holds user data", entry.Name())
		}
		return err
	})
	if err != nil || read < 5 {
		t.Errorf("%d files were looked through: %v", read, err)
	}
	if trace, err := os.ReadFile(traces); err != nil || !bytes.Contains(trace, []byte("RunInstances")) {
		t.Errorf("the trace log does not show the calls (%v), so looking through it proves nothing", err)
	}
	for _, hidden := range []string{string(secret), userData, "echo ready"} {
		if strings.Contains(out.String(), hidden) {
			t.Errorf("the output holds %q", hidden)
		}
	}
}

// TestExamplesAreValid initializes and validates every configuration under
// examples/ with the built provider.
func TestExamplesAreValid(t *testing.T) {
	t.Parallel()
	for name, files := range exampleConfigurations(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := rehearsal(t, &transcript{})
			if err := os.CopyFS(s.work, os.DirFS(filepath.Dir(files[0]))); err != nil {
				t.Fatal(err)
			}
			keepOnly(t, s.work, files)
			complete(t, s)
			for _, line := range []string{"terraform init -input=false", "terraform validate"} {
				if _, err := s.quietly(t.Context(), strings.Fields(line)); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// exampleConfigurations returns the files of each configuration under examples/. A file that has
// its own required_providers next to others that do is a configuration of its own. The files
// that have none, the imports, belong to resource.tf.
func exampleConfigurations(t *testing.T) map[string][]string {
	t.Helper()
	byDir := map[string][]string{}
	err := filepath.WalkDir("../../examples", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".tf") {
			byDir[filepath.Dir(name)] = append(byDir[filepath.Dir(name)], name)
		}
		return err
	})
	if err != nil || len(byDir) < 3 {
		t.Fatalf("%d directories with configurations under examples/: %v", len(byDir), err)
	}
	configurations := map[string][]string{}
	for dir, names := range byDir {
		var alone, parts []string
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(text, []byte("required_providers")) {
				alone = append(alone, name)
			} else {
				parts = append(parts, name)
			}
		}
		key := strings.TrimPrefix(filepath.ToSlash(dir), "../../examples/")
		if len(alone) < 2 {
			configurations[key] = names
			continue
		}
		main := filepath.Join(dir, "resource.tf")
		if !slices.Contains(alone, main) {
			t.Fatalf("%s has several configurations, and no resource.tf", key)
		}
		for _, name := range alone {
			configurations[key+"/"+filepath.Base(name)] = []string{name}
		}
		configurations[key+"/resource.tf"] = append([]string{main}, parts...)
	}
	return configurations
}

// keepOnly removes the .tf files of a directory that a configuration does not have.
func keepOnly(t *testing.T, dir string, files []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.tf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !slices.ContainsFunc(files, func(file string) bool { return filepath.Base(file) == filepath.Base(name) }) {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// complete adds to a registry page's snippet what it leaves out, and takes out
// what this Terraform is too old for.
func complete(t *testing.T, s *stage) {
	t.Helper()
	identity := filepath.Join(s.work, "import-by-identity.tf") // Terraform 1.12
	version, err := exec.Command(s.terraAt, "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(version, []byte("Terraform v1.11.")) || bytes.Contains(version, []byte("OpenTofu")) {
		_ = os.Remove(identity)
	}
	names, err := filepath.Glob(filepath.Join(s.work, "*.tf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if text, err := os.ReadFile(name); err != nil || bytes.Contains(text, []byte("required_providers")) {
			return
		}
	}
	requirement := "terraform {\n  required_providers {\n    gpupool = { source = \"gpupool/gpupool\" }\n  }\n}\n"
	if err := os.WriteFile(filepath.Join(s.work, "requirement.tf"), []byte(requirement), 0o600); err != nil {
		t.Fatal(err)
	}
}
