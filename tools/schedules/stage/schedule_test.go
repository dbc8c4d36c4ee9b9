//go:build unix

package stage

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

// programsOf names the built binary and terraform or tofu. make test hands both in;
// without it the binary is built here.
func programsOf(t *testing.T) Programs {
	t.Helper()
	p := Programs{GPUPool: os.Getenv("GPUPOOL_BIN"), Terraform: os.Getenv("TF_ACC_TERRAFORM_PATH")}
	if p.GPUPool == "" {
		p.GPUPool = filepath.Join(t.TempDir(), "terraform-provider-gpupool")
		if out, err := exec.Command("go", "build", "-o", p.GPUPool, "../../..").CombinedOutput(); err != nil {
			t.Fatalf("building gpupool: %v\n%s", err, out)
		}
	}
	for _, name := range []string{"terraform", "tofu"} {
		if found, err := exec.LookPath(name); p.Terraform == "" && err == nil {
			p.Terraform = found
		}
	}
	if p.Terraform == "" {
		t.Fatal("neither terraform nor tofu is on PATH: run this by make test, which builds one")
	}
	return p
}

// TestSchedule plays the beginning of one of the schedules of make schedules.
func TestSchedule(t *testing.T) {
	t.Parallel()
	const seed, rounds = 9, 16
	w, err := NewWorld(t.TempDir(), programsOf(t))
	if err != nil {
		t.Fatal(err)
	}
	err = w.Play(t.Context(), schedule.Draw(seed, rounds), func(int) {})
	var broken *BrokenError
	if errors.As(err, &broken) {
		t.Log(broken.Log)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Errorf("%v; repeat it by: make schedules SEED=%d", err, seed)
	}
	t.Log(w.Counts())
	if missing := w.Counts().Missing(); len(missing) > 0 {
		t.Errorf("nothing was shown, since there were no %v", missing)
	}
}
