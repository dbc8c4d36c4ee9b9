package cli_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
)

// An error about a lock names the command that holds it.
func TestALockNamesTheCommandThatHoldsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.create("train", 2, 4)
	w.reclaim("train")
	w.reclaim("train") // so that it stays short with the instance that is adopted
	made, err := w.control(http.MethodPost, "instances",
		`{"availability_zone":"ap-singapore-2","instance_type":"GN7.2XLARGE32","count":1,"vpc_id":"vpc-a1b2c3d4"}`)
	if err != nil {
		t.Fatal(err)
	}
	var instances struct {
		IDs []string `json:"instance_ids"`
	}
	if err := json.Unmarshal(made, &instances); err != nil || len(instances.IDs) != 1 {
		t.Fatalf("%v: %s", err, made)
	}
	w.fault(cvmsim.Fault{Kind: cvmsim.FaultSlow, Action: "TagResources", Delay: cvmsim.Duration(2 * time.Second)})
	adopting := w.start("adopt", "ap-singapore/train", instances.IDs[0])
	eventually(t, "the adoption is asked for", func() bool { return w.calls("TagResources") > 0 })
	run := w.start("reconcile")
	if code := run.exitCode(t); code != 0 || !strings.Contains(run.stdout(), "is held by gpupool adopt (process ") {
		t.Errorf("exit code %d\n%s%s", code, run.stdout(), run.stderr())
	}
	if code := adopting.exitCode(t); code != 0 {
		t.Errorf("the adoption ended with %d\n%s", code, adopting.stderr())
	}
}
