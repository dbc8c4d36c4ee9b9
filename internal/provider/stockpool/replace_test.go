package stockpool_test

import "testing"

// TestAStockPoolIsReplaced by -replace and after taint: the apply makes another
// Deployment. A plan of another one by that name warns of it.
func TestAStockPoolIsReplaced(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	d := s.Terraform()
	d.Write(s.pool())
	d.Apply()
	for _, by := range []string{"-replace", "taint"} {
		before := s.deployment()
		var args []string
		if by == "taint" {
			d.Must("terraform", "taint", address)
		} else {
			args = append(args, "-replace="+address)
		}
		warnings, changes := d.Plan(args...)
		if changes[address].Change != "delete,create" || by == "taint" && !hears(warnings, "pool-g1 exists already") {
			t.Errorf("%s: it is to %s, with %+v", by, changes[address].Change, warnings)
		}
		d.Must("terraform", append([]string{"apply", "-auto-approve", "-input=false"}, args...)...)
		after := s.deployment()
		if after == nil || after.UID == before.UID || *after.Spec.Replicas != 2 {
			t.Errorf("%s: its Deployment is %+v", by, after)
		}
		if _, changes = d.Plan(); changes[address].Change != "no-op" {
			t.Errorf("%s: after it, a plan finds something to %s", by, changes[address].Change)
		}
	}
	other := s.Terraform()
	other.Write(s.pool())
	if warnings, _ := other.Plan(); !hears(warnings, "pool-g1 exists already") {
		t.Errorf("a plan of another one warns %+v", warnings)
	}
}
