package world_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

type object = map[string]any

func populate(t *testing.T, sim *cvmsimtest.Sim) {
	t.Helper()
	a := cvmsimtest.NewClient(t, sim)
	number := int64(5)
	if err := sim.Server.SetStock(cvmsim.StockRequest{
		AvailabilityZone: "ap-singapore-3", InstanceType: "GN7.2XLARGE32", Stock: &number, VCPUQuota: &number,
	}); err != nil {
		t.Fatal(err)
	}
	cvmsimtest.Step(t, sim, 3*time.Hour)
	ids := a.Run(object{"InstanceCount": 3, "ClientToken": "kept"})
	if _, err := sim.Server.Reclaim(cvmsim.ReclaimRequest{InstanceIDs: ids[:1], Notice: cvmsim.Duration(30 * time.Minute)}); err != nil {
		t.Fatal(err)
	}
	if err := sim.Server.SetState(cvmsim.StateRequest{InstanceIDs: ids[2:], State: "GONE"}); err != nil {
		t.Fatal(err)
	}
}

func TestStateSurvives(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(t *testing.T, s *cvmsim.Server, dir string) string{
		"closed": func(t *testing.T, s *cvmsim.Server, dir string) string {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		"killed": func(t *testing.T, _ *cvmsim.Server, dir string) string { return cvmsimtest.CopyOf(t, dir) },
		"killed in the middle of a write": func(t *testing.T, _ *cvmsim.Server, dir string) string {
			left := cvmsimtest.CopyOf(t, dir)
			journal, err := os.OpenFile(filepath.Join(left, "journal.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer journal.Close()
			if _, err := journal.WriteString(`{"set":{"instance/ins-`); err != nil {
				t.Fatal(err)
			}
			return left
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "state")
			keep := func(dir string) *cvmsimtest.Sim {
				return cvmsimtest.Start(t, func(o *cvmsim.Options) { o.StateDir, o.LaunchDelay = dir, time.Hour })
			}
			before := keep(dir)
			populate(t, before)
			after := keep(leave(t, before.Server, dir))
			if d := cmp.Diff(before.Server.Instances(), after.Server.Instances()); d != "" {
				t.Error(d)
			}
			a := cvmsimtest.NewClient(t, after)
			if ids := a.Run(object{"InstanceCount": 3, "ClientToken": "kept"}); ids[0] != after.Server.Instances()[0].InstanceID {
				t.Errorf("the token was forgotten: %v", ids)
			}
			a.Refused("LimitExceeded.UserSpotQuota", "cvm", "RunInstances", cvmsimtest.Launch(object{"Placement": object{"Zone": "ap-singapore-3"}}))
			if found := a.Describe(cvmsimtest.FilterBy("tag:gpupool/pool", "train")); len(found) != 2 {
				t.Errorf("%d instances by tag", len(found))
			}
			cvmsimtest.Step(t, after, time.Hour) // the launch settles, and the notice runs out
			if all := after.Server.Instances(); len(all) != 1 || all[0].State != "RUNNING" {
				t.Errorf("an hour later: %+v", all)
			}
		})
	}
}

func TestResetEmptiesTheDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sim := cvmsimtest.Start(t, func(o *cvmsim.Options) { o.StateDir = dir })
	populate(t, sim)
	first := sim.Server.Instances()[0].InstanceID
	if err := sim.Server.Reset(); err != nil {
		t.Fatal(err)
	}
	after := cvmsimtest.Start(t, func(o *cvmsim.Options) { o.StateDir = cvmsimtest.CopyOf(t, dir) })
	if n := len(after.Server.Instances()); n != 0 {
		t.Errorf("%d instances", n)
	}
	if again := cvmsimtest.NewClient(t, after).Run(nil)[0]; again == first {
		t.Errorf("%s is used again", again)
	}
}

func TestDamagedState(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ file, content, says string }{
		"no JSON":         {"state.json", "{", "damaged"},
		"newer version":   {"state.json", `{"version":2}`, "version 2"},
		"unknown record":  {"state.json", `{"version":1,"records":{"moon/1":{}}}`, "record moon/1"},
		"unknown field":   {"state.json", `{"version":1,"records":{"quota/x":{"Moons":1}}}`, "record quota/x"},
		"unknown type":    {"state.json", `{"version":1,"records":{"instance/ins-a1b2c3d4":{"ID":"ins-a1b2c3d4","Type":"x"}}}`, "record instance/ins-a1b2c3d4"},
		"damaged journal": {"journal.jsonl", "{}\n{\n{}\n", "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, test.file)
			if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := cvmsim.New(cvmsim.Options{StateDir: dir})
			if err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), dir) {
				t.Errorf("got %v, want it to name %q and the directory", err, test.says)
			}
			if left, err := os.ReadFile(path); err != nil || string(left) != test.content {
				t.Errorf("the file was touched: %q, %v", left, err)
			}
		})
	}
}

// The state directory holds neither the account's key nor a password.
func TestStateHoldsNoSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sim := cvmsimtest.Start(t, func(o *cvmsim.Options) { o.StateDir = dir })
	cvmsimtest.NewClient(t, sim).Run(object{"ClientToken": "t", "LoginSettings": object{"Password": "Secret-Password-1"}})
	for _, name := range []string{"state.json", "journal.jsonl"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{cvmsim.DemoSecretKey, "Secret-Password-1"} {
			if strings.Contains(string(content), secret) {
				t.Errorf("%s holds %q", name, secret)
			}
		}
	}
}
