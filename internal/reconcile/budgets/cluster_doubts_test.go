package budgets_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// TestANamespaceThatDoesNotExistIsReported by the run and by the status that it leaves, with
// the one that was probably meant.
func TestANamespaceThatDoesNotExistIsReported(t *testing.T) {
	t.Parallel()
	const doubt = `its selector names the namespace "nl", which does not exist in the cluster: did you mean "ml"?`
	d := newFixture(t)
	d.Declare(func(b *budget.Declaration) { b.Selector = budget.Selector{Namespaces: []string{"web", "nl"}} })
	r := d.Run()
	if len(r.Budgets) != 1 || !slices.Contains(r.Budgets[0].Warnings.Texts(), doubt) {
		t.Errorf("the run says %+v", r.Budgets)
	}
	status, err := d.Runner().Status(t.Context())
	if err != nil || len(status.Budgets) != 1 || !slices.Contains(status.Budgets[0].Warnings.Texts(), doubt) {
		t.Errorf("the status says %+v, %v", status.Budgets, err)
	}
}

// TestWhatEnforcementNeedsIsReportedBeforeTheLimit, while nothing is enforced: by the run, and by the status that
// it leaves.
func TestWhatEnforcementNeedsIsReportedBeforeTheLimit(t *testing.T) {
	t.Parallel()
	const class, namespace = `its protected_priority_class names the priority class "hihg"`, `its protected_namespaces names the namespace "wep", which`
	for action, want := range map[budget.Action][]string{
		budget.AlertOnly: nil,
		budget.Freeze:    {namespace, "its freeze would fail now: no policy"},
		budget.Pause:     {class, namespace},
		budget.Evict:     {class, namespace, "its freeze would fail now: no policy"},
	} {
		d := newFixture(t)
		d.Cluster.Failing["FreezePolicy"] = errors.New("no policy")
		d.Declare(func(b *budget.Declaration) {
			b.Enforce = budget.Enforcement{Action: action, ProtectedNamespaces: []string{"wep", "ml"}, ProtectedPriorityClass: "hihg"}
		})
		r := d.Run()
		status, err := d.Runner().Status(t.Context())
		if err != nil || len(r.Budgets) != 1 || len(status.Budgets) != 1 {
			t.Fatalf("%s: %v, %+v", action, err, r.Budgets)
		}
		for where, got := range map[string][]string{"run": r.Budgets[0].Warnings.Texts(), "status": status.Budgets[0].Warnings.Texts()} {
			got = slices.DeleteFunc(slices.Clone(got), func(text string) bool { return !strings.HasPrefix(text, "its ") })
			slices.Sort(got)
			missing := slices.DeleteFunc(slices.Clone(want), func(w string) bool {
				return slices.ContainsFunc(got, func(text string) bool { return strings.HasPrefix(text, w) })
			})
			if len(got) != len(want) || len(missing) > 0 {
				t.Errorf("%s: the %s warns %q, want %q", action, where, got, want)
			}
		}
	}
}
