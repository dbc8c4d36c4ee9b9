package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// TestDemoKeepsSecrets plays the whole demo with the built binary, found by
// terraform init in a filesystem mirror, at the most verbose level of everything.
// The secret key may then stand nowhere: not in what was printed, not in a log,
// not in the state, not in a record; and user data in no output.
func TestDemoKeepsSecrets(t *testing.T) {
	t.Parallel()
	gpupool, terraform := programs(t)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var out bytes.Buffer
	s, err := newStage(ctx, &out, gpupool, terraform, "../../examples/demo")
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	defer func() {
		if !closed {
			_ = s.close()
		}
	}()
	traces := filepath.Join(s.dir, "trace.log")
	s.env = append(s.env, "TF_LOG=TRACE", "TF_LOG_PATH="+traces)
	s.verbose = true
	if err := s.play(ctx, 1, poolActs); err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	secret := []byte(cvmsim.DemoSecretKey)
	userData := base64.StdEncoding.EncodeToString([]byte("#!/bin/sh\necho ready\n"))
	read := 0
	err = filepath.WalkDir(s.dir, func(name string, entry fs.DirEntry, err error) error {
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
	for _, hidden := range [][]byte{secret, []byte(userData), []byte("echo ready")} {
		if bytes.Contains(out.Bytes(), hidden) {
			t.Errorf("the output holds %q", hidden)
		}
	}
	closed = true
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("the demo leaves %s behind", s.dir)
	}
}

// TestExamplesAreValid initialises and validates every configuration under
// examples/ with the built provider.
func TestExamplesAreValid(t *testing.T) {
	t.Parallel()
	gpupool, terraform := programs(t)
	configurations := map[string]bool{}
	err := filepath.WalkDir("../../examples", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".tf") {
			configurations[filepath.Dir(name)] = true
		}
		return err
	})
	if err != nil || len(configurations) < 3 {
		t.Fatalf("%d configurations under examples/: %v", len(configurations), err)
	}
	for dir := range configurations {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			var out bytes.Buffer
			s, err := newStage(ctx, &out, gpupool, terraform, dir)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.close() }()
			complete(t, s)
			for _, args := range [][]string{{"init", "-input=false"}, {"validate"}} {
				if err := s.terraform(ctx, args...); err != nil {
					t.Fatalf("%v\n%s", err, out.Bytes())
				}
			}
		})
	}
}

// complete adds to a registry page's snippet what it leaves out, and takes out
// what this Terraform is too old for.
func complete(t *testing.T, s *stage) {
	t.Helper()
	work := filepath.Join(s.dir, "work")
	identity := filepath.Join(work, "import-by-identity.tf") // Terraform 1.12
	version, err := exec.Command(s.terraAt, "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(version, []byte("Terraform v1.11.")) || bytes.Contains(version, []byte("OpenTofu")) {
		_ = os.Remove(identity)
	}
	names, err := filepath.Glob(filepath.Join(work, "*.tf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if text, err := os.ReadFile(name); err != nil || bytes.Contains(text, []byte("required_providers")) {
			return
		}
	}
	requirement := "terraform {\n  required_providers {\n    gpupool = { source = \"gpupool/gpupool\" }\n  }\n}\n"
	if err := os.WriteFile(filepath.Join(work, "requirement.tf"), []byte(requirement), 0o600); err != nil {
		t.Fatal(err)
	}
}
