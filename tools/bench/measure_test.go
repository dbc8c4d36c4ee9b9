//go:build unix

package bench

import (
	"os/exec"
	"strings"
	"testing"
)

func TestALargeParentDoesNotCount(t *testing.T) {
	t.Parallel()
	large := make([]byte, 256<<20)
	for i := 0; i < len(large); i += 4096 {
		large[i] = 1
	}
	took, out, err := measure(exec.CommandContext(t.Context(), "echo", "hello"))
	if err != nil || string(out) != "hello\n" {
		t.Fatalf("%q, %v", out, err)
	}
	if peak := took["peak-MB"]; peak <= 0 || peak > float64(len(large))/2e6 {
		t.Errorf("echo took %.0f MB, its parent has %d MiB", peak, len(large)>>20)
	}
	if took["s"] <= 0 {
		t.Errorf("it took %v s", took["s"])
	}
}

func TestAFailedCommandIsAnError(t *testing.T) {
	t.Parallel()
	_, _, err := measure(exec.CommandContext(t.Context(), "sh", "-c", "echo out; echo err >&2; exit 3"))
	if err == nil || !strings.Contains(err.Error(), "out") || !strings.Contains(err.Error(), "err") || !strings.Contains(err.Error(), "exit status 3") {
		t.Error(err)
	}
}
