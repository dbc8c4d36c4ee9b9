package spotpool_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// about is the one warning with these words in its headline.
func about(t *testing.T, warnings []providertest.Message, words string) string {
	t.Helper()
	var found []string
	for _, w := range warnings {
		if strings.Contains(w.Summary, words) {
			found = append(found, w.Summary+": "+w.Detail)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d warnings of %q, not one: %v", len(found), words, warnings)
	}
	return found[0]
}

// says fails unless the text has all of these parts, and none of the others.
func says(t *testing.T, text string, parts []string, none ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %q", part, text)
		}
	}
	for _, part := range none {
		if strings.Contains(text, part) {
			t.Errorf("%q is in %q", part, text)
		}
	}
}

// A plan that destroys a pool names the machines that end with it, as they are
// now, however the plan comes about.
func TestDestroyPlanNamesWhatEnds(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	d := w.Terraform()
	d.Write(pool())
	d.Apply()
	applied := w.Pool("train")
	reclaim(t, w, 1)
	d.Must("gpupool", "reconcile", "--wait")
	now := w.Pool("train")
	gone := slices.DeleteFunc(slices.Clone(applied), func(id string) bool { return slices.Contains(now, id) })
	if len(now) != 2 || len(gone) != 1 {
		t.Fatalf("%v became %v", applied, now)
	}

	warnings, planned := d.Plan("-destroy")
	says(t, about(t, warnings, "ap-singapore/train: 2 instances to terminate"), append(now, "Destroying it terminates 2 instances"), gone...)
	if before := planned[address].Before; len(before) > 0 {
		t.Errorf("what is destroyed plans %q", before)
	}
	warnings, _ = d.Plan("-destroy", "-refresh=false")
	says(t, about(t, warnings, "to terminate"), now, gone...)

	d.Write("")
	warnings, planned = d.Plan()
	text := about(t, warnings, "to terminate")
	says(t, text, now, gone...)
	// Terraform up to 1.11 plans this on the state before its refresh.
	if before := planned[address].Before; len(before) > 0 && !strings.Contains(text, "nothing is launched") {
		t.Errorf("what is destroyed plans %q, and the warning doesn't explain it: %s", before, text)
	}

	d.Write(pool(attributes{"name": `"other"`}))
	warnings, _ = d.Plan()
	says(t, about(t, warnings, "ap-singapore/train: 2 instances to terminate"), append(now, "Replacing it terminates 2 instances"), gone...)

	d.Write(pool(attributes{"on_destroy": `"retain"`}))
	d.Apply()
	warnings, _ = d.Plan("-destroy")
	says(t, about(t, warnings, "2 instances to detach"), append(now, "detaches 2 instances", "keep running"), "terminates")
	d.Write(pool())
	d.Apply()

	for _, id := range now {
		if err := w.Sim.Server.SetState(cvmsim.StateRequest{InstanceIDs: []string{id}, State: "GONE"}); err != nil {
			t.Fatal(err)
		}
	}
	if warnings, _ = d.Plan("-destroy"); len(warnings) > 0 {
		t.Errorf("nothing ends with a pool without machines: %v", warnings)
	}
}

// Of many instances the first are named, and the rest is counted. The plan of a destroy, or
// of a replacement, that will be refused for a protected one is refused.
func TestDestroyPlanOfManyMachines(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w)
	o := create(t, s, train(providertest.Values{"minimum": 13, "maximum": 13}))
	text := fresh(t, w).Plan(o, nil).Diagnostics.String()
	says(t, text, []string{"terminates 13 instances", "and 9 more"})
	if n := strings.Count(text, "ins-"); n != 4 {
		t.Errorf("%d ids are named: %s", n, text)
	}
	protected := true
	if err := w.Sim.Server.SetState(cvmsim.StateRequest{InstanceIDs: w.Pool("train")[:1], Protected: &protected}); err != nil {
		t.Fatal(err)
	}
	retained := train(providertest.Values{"minimum": 13, "maximum": 13, "on_destroy": "retain"})
	for verb, values := range map[string]providertest.Values{
		"destroy": nil, "replace": train(providertest.Values{"minimum": 13, "maximum": 13, "name": "other"}),
	} {
		says(t, fresh(t, w).Plan(o, values).Diagnostics.String(), []string{"ERROR", "The plan would " + verb + " it, which would be refused: " +
			"" + w.Pool("train")[0] + " cannot"}, "ends 13")
	}
	says(t, fresh(t, w).Plan(o, retained).Diagnostics.String(), nil, "ERROR")
	protected = false
	if err := w.Sim.Server.SetState(cvmsim.StateRequest{InstanceIDs: w.Pool("train")[:1], Protected: &protected}); err != nil {
		t.Fatal(err)
	}
	s.Destroy(o)
}

// If the instances cannot be observed, a plan names those of the last observation, with its
// time.
func TestDestroyPlanWithoutALook(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w)
	o := create(t, s, train(nil))
	blind, _ := w.Serve(nil, providertest.Values{"endpoint": "http://127.0.0.1:1"})
	says(t, blind.Plan(o, nil).Diagnostics.String(), append(w.Pool("train"), "WARNING", "That is as of 20", "observing it again failed",
		"127.0.0.1:1"), "ERROR")
	forgotten := *o
	forgotten.Private = nil
	says(t, blind.Plan(&forgotten, nil).Diagnostics.String(), []string{"its instances are unknown", "terminates all of its instances"}, "ERROR")
	s.Destroy(o)
}

// Planned actions are not drift once they are done: the plan after an apply has no changes.
func TestPlanAfterApplyReportsNoDrift(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	d := w.Terraform()
	output := fmt.Sprintf("output \"capacity\" {\n  value = %s.capacity\n}\n", address)
	d.Write(pool() + output)
	d.Apply()
	says(t, d.Must("terraform", "plan", "-input=false", "-no-color").Stdout, []string{"No changes."}, "outside of Terraform", "planned_actions")
	d.Write(pool(attributes{"maximum": "5"}) + output)
	says(t, d.Must("terraform", "plan", "-input=false", "-no-color").Stdout, []string{"1 to change"}, "outside of Terraform")
}
