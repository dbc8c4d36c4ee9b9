package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// localkube is the built Kubernetes of the tests.
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

// TestDemoOfAll plays the complete example, and finds in it what it is to show.
func TestDemoOfAll(t *testing.T) {
	t.Parallel()
	gpupool, terraform := programs(t)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var out bytes.Buffer
	s, err := newStage(ctx, &out, gpupool, terraform, "../../examples/complete")
	if err != nil {
		t.Fatal(err)
	}
	err = s.enterWithMachines(ctx, localkube(t))
	if err == nil {
		err = s.play(ctx, 1, completeActs)
	}
	if closing := s.close(); err != nil || closing != nil {
		t.Fatalf("%v, %v\n%s", err, closing, out.Bytes())
	}
	for _, told := range []string{
		"condition GpupoolReclaim: ", "launched 1 spot", "its node " + nodeOf(s.taken) + " is drained since", "deleted the node " + nodeOf(s.taken),
		"Nodes of the pool: 0", "the cloud takes it at", "reclaim      train                 " + s.taken, "drained      train                 " + s.taken,
		"mend         gpupool-demo/runtime  kubectl (scale): spec.replicas was 4 instead of 2", "pause        gpupool-demo/runtime",
		"resume       gpupool-demo/runtime",
		"1 pod waits for a node",
	} {
		if !strings.Contains(out.String(), told) {
			t.Errorf("the demo does not show %q", told)
		}
	}
	if t.Failed() {
		t.Logf("%s", out.Bytes())
	}
}
