package notification_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// TestWriteOnlyValuesAreInNoStatePlanOrLog: only another version changes them in the store, and
// reconcile --from-state works with a state that has a notification.
func TestWriteOnlyValuesAreInNoStatePlanOrLog(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	d := w.Terraform()
	log := filepath.Join(t.TempDir(), "log")
	d.Setenv("TF_LOG", "TRACE")
	d.Setenv("TF_LOG_PATH", log)
	declare := func(url, secret string, version int) {
		d.Setenv("TF_VAR_url", url)
		d.Setenv("TF_VAR_secret", secret)
		d.Write("variable \"url\" {\n  type      = string\n  ephemeral = true\n}\nvariable \"secret\" {\n  type      = string\n  ephemeral = true\n}\n" +
			config(attributes{
				"type": `"feishu"`, "url_wo": "var.url", "url_wo_version": fmt.Sprint(version), "secret_wo": "var.secret", "secret_wo_version": fmt.Sprint(version),
			}))
	}
	is := func(url, secret string) {
		t.Helper()
		if got := recorded(t, w); got.URL != url || got.Secret != secret {
			t.Errorf("the store has %s and %s", got.URL, got.Secret)
		}
	}
	const first, second = "https://feishu.example/hunter1", "https://feishu.example/hunter2"
	declare(first, "swordfish1", 1)
	d.Must("terraform", "validate")
	d.Must("terraform", "plan", "-input=false", "-out=saved")
	shown := d.Must("terraform", "show", "-json", "saved").Stdout
	d.Apply()
	is(first, "swordfish1")
	declare(second, "swordfish2", 1)
	if _, changes := d.Plan(); changes[address].Change != "no-op" {
		t.Errorf("without another version, the plan is to %s", changes[address].Change)
	}
	declare(second, "swordfish2", 2)
	d.Apply()
	is(second, "swordfish2")
	if _, changes := d.Plan(); changes[address].Change != "no-op" {
		t.Errorf("once applied, the plan is to %s", changes[address].Change)
	}
	declare("hunter3", "swordfish3", 3)
	refused := d.Run("terraform", "plan", "-input=false", "-no-color")
	if refused.Code == 0 || !strings.Contains(refused.Stderr, "It is not a web address") {
		t.Errorf("an invalid address is planned: %s", refused.Stderr)
	}
	fromState(t, w, d)
	declare(second, "swordfish2", 2)
	d.Must("terraform", "destroy", "-auto-approve", "-input=false")
	nothingRecorded(t, w)
	texts := map[string]string{"plan": shown, "error": refused.Stdout + refused.Stderr}
	for _, name := range []string{filepath.Join(d.Path, "terraform.tfstate"), filepath.Join(d.Path, "terraform.tfstate.backup"), log} {
		text, err := os.ReadFile(name)
		if err != nil || len(text) == 0 {
			t.Fatalf("%s: %v", name, err)
		}
		texts[filepath.Base(name)] = string(text)
	}
	for name, text := range texts {
		if strings.Contains(text, "hunter") || strings.Contains(text, "swordfish") {
			t.Errorf("a write-only value is in the %s", name)
		}
	}
}

// fromState reconciles with the state: the store of the notification needs nothing, and another
// one cannot get it.
func fromState(t *testing.T, w *providertest.World, d *providertest.Directory) {
	t.Helper()
	state := filepath.Join(d.Path, "terraform.tfstate")
	if done := d.Must("gpupool", "reconcile", "--from-state", state); strings.Contains(done.Stdout+done.Stderr, "left out") {
		t.Errorf("with the store of the notification: %s%s", done.Stdout, done.Stderr)
	}
	elsewhere := w.StoreDir + "-2"
	done := d.Must("gpupool", "reconcile", "--from-state", state, "--store", "directory:"+elsewhere)
	if text := done.Stdout + done.Stderr; !strings.Contains(text, address+" is left out: the store directory:"+elsewhere+" has no record of it") {
		t.Errorf("with another store: %s", text)
	}
}
