package spotpool_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// TestWriteOnlyUserDataIsInNoStateAndNoPlan: instances get it, also those that a run launches
// from the store, and only another version changes it.
func TestWriteOnlyUserDataIsInNoStateAndNoPlan(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	d := w.Terraform()
	declare := func(userData string, version int) {
		d.Setenv("TF_VAR_secret", userData)
		d.Write("variable \"secret\" {\n  type      = string\n  ephemeral = true\n}\n" +
			pool(attributes{"user_data_raw_wo": "var.secret", "user_data_raw_wo_version": fmt.Sprint(version)}))
	}
	records := func(when, want string) {
		t.Helper()
		record, err := os.ReadFile(filepath.Join(w.StoreDir, "spot_pools", "ap-singapore", "train.json"))
		if err != nil || !strings.Contains(string(record), want) {
			t.Errorf("%s, the record lacks %s: %v", when, want, err)
		}
	}
	secret := func() {
		t.Helper()
		d.Must("terraform", "plan", "-input=false", "-out=saved")
		shown := d.Must("terraform", "show", "-json", "saved").Stdout
		state, err := os.ReadFile(filepath.Join(d.Path, "terraform.tfstate"))
		if err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string]string{"plan": shown, "state": string(state)} {
			if strings.Contains(text, "hunter") || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte("hunter"))[:8]) {
				t.Errorf("it is in the %s", what)
			}
		}
	}
	declare("hunter1", 1)
	d.Apply()
	records("created", "hunter1")
	secret()
	declare("hunter2", 1)
	if _, changes := d.Plan(); changes[address].Change != "no-op" {
		t.Errorf("without another version, the plan is to %s", changes[address].Change)
	}
	declare("hunter2", 2)
	secret()
	d.Apply()
	secret()
	if _, changes := d.Plan(); changes[address].Change != "no-op" {
		t.Errorf("once applied, the plan is to %s", changes[address].Change)
	}
	records("in its second version", "hunter2")
	state := filepath.Join(d.Path, "terraform.tfstate")
	d.Must("gpupool", "reconcile", "--from-state", state)
	d.Setenv("GPUPOOL_STORE", "directory:"+w.StoreDir+"-2")
	if done := d.Run("gpupool", "reconcile", "--from-state", state); done.Code == 0 || !strings.Contains(done.Stderr+done.Stdout, "is in no Terraform state") {
		t.Errorf("another store takes it over: %s%s", done.Stdout, done.Stderr)
	}
	d.Setenv("GPUPOOL_STORE", "directory:"+w.StoreDir)
	d.Write(pool(attributes{"user_data_raw": `"a"`, "user_data_raw_wo": `"b"`, "user_data_raw_wo_version": "1"}))
	if done := d.Run("terraform", "validate", "-no-color"); done.Code == 0 || !strings.Contains(done.Stderr, "Conflicting arguments") {
		t.Errorf("both are accepted: %s", done.Stderr)
	}
	d.Write(pool(attributes{"user_data_raw_wo": `"b"`}))
	if done := d.Run("terraform", "validate", "-no-color"); done.Code == 0 || !strings.Contains(done.Stderr, "Missing version") {
		t.Errorf("it is accepted without a version: %s", done.Stderr)
	}
	d.Write("")
	d.Apply()
}
