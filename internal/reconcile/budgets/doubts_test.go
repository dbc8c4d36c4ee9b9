package budgets_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// TestDoubtsOfOneNamespaceHideNoOthers: what one tenant's pods make doubtful hides
// nothing of another's, and however many there are, few are told.
func TestDoubtsOfOneNamespaceHideNoOthers(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(func(b *budget.Declaration) {
		b.Selector = budget.Selector{NamespaceLabels: map[string]string{"kind": "ci"}}
	})
	d.Run()
	d.Cluster.Former = map[string]map[string]string{}
	// doubtful creates and deletes a pod in a namespace whose labels are unknown.
	doubtful := func(namespace, name string) string {
		uid := d.Cluster.Start(namespace, name, 1)
		d.Cluster.Remove(uid)
		d.Cluster.Former[uid] = nil
		return fmt.Sprintf("the pod %s/%s: its namespace is gone, and what labels that had is not known, so that no budget counts it by them: watch "+
			"namespaces: forbidden", namespace, name)
	}
	var want []string
	for n := range 100 {
		want = append(want, doubtful("noisy", fmt.Sprint("pod-", n)))
	}
	want = append(want[:5], doubtful("quiet", "pod"), "95 more doubts about pods, 95 of them in the namespace noisy")
	if diff := cmp.Diff(want, d.Run().Warnings.Texts()); diff != "" {
		t.Errorf("warnings (-want +got)\n%s", diff)
	}
	for n := range 100 {
		doubtful(fmt.Sprint("namespace-", n), "pod")
	}
	told := d.Run().Warnings.Texts()
	if rest := slices.IndexFunc(told, func(s string) bool { return len(s) > 0 && s[0] == '5' }); len(told) != 51 || rest != 50 {
		t.Errorf("%d are told: %q", len(told), told)
	}
}
