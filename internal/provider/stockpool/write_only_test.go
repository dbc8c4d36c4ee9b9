package stockpool_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWriteOnlyVariablesAreInNoState: the Deployment has them in addition to those of env, and
// only a new version changes them. A run reverts drift of them from the store.
func TestWriteOnlyVariablesAreInNoState(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	d := s.Terraform()
	declare := func(value string, version int) {
		d.Setenv("TF_VAR_secret", value)
		d.Write("variable \"secret\" {\n  type      = string\n  ephemeral = true\n}\n" + s.pool(attributes{
			"env": `{ PLAIN = "1" }`, "env_wo": "{ SECRET = var.secret }", "env_wo_version": fmt.Sprint(version),
		}))
	}
	has := func(want string) {
		t.Helper()
		var all []string
		for _, e := range s.deployment().Spec.Template.Spec.Containers[0].Env {
			all = append(all, e.Name+"="+e.Value)
		}
		if got := strings.Join(all, " "); got != want {
			t.Errorf("its pods have %s, want %s", got, want)
		}
	}
	declare("hunter1", 1)
	d.Apply()
	has("PLAIN=1 SECRET=hunter1")
	declare("hunter2", 1)
	if _, changes := d.Plan(); changes[address].Change != "no-op" {
		t.Errorf("without another version, the plan is to %s", changes[address].Change)
	}
	s.patch(`{"spec":{"template":{"spec":{"containers":[{"name":"runtime","env":[{"name":"SECRET","value":"theirs"}]}]}}}}`)
	d.Must("gpupool", "reconcile")
	has("PLAIN=1 SECRET=hunter1")
	declare("hunter2", 2)
	d.Apply()
	has("PLAIN=1 SECRET=hunter2")
	if _, changes := d.Plan(); changes[address].Change != "no-op" {
		t.Errorf("once applied, the plan is to %s", changes[address].Change)
	}
	state, err := os.ReadFile(filepath.Join(d.Path, "terraform.tfstate"))
	if err != nil || strings.Contains(string(state), "hunter") {
		t.Errorf("the state has it: %v", err)
	}
	d.Write("")
	d.Apply()
}
