package budgets

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What one tenant's pods make doubtful hides nothing of another's.
func TestDoubtsOfOneNamespaceHideNoOthers(t *testing.T) {
	t.Parallel()
	var d doubts
	for n := range 100 {
		d.add("noisy", fmt.Sprint("noisy ", n))
	}
	d.add("quiet", "quiet")
	want := []string{"noisy 0", "noisy 1", "noisy 2", "noisy 3", "noisy 4", "quiet", "95 more doubts about pods, 95 of them in the namespace noisy"}
	if diff := cmp.Diff(want, d.texts()); diff != "" {
		t.Error(diff)
	}
	for n := range 100 {
		d.add(fmt.Sprint("namespace-", n), "doubt")
	}
	if n := len(d.texts()); n != doubtsAtMost+1 {
		t.Errorf("%d are told", n)
	}
}
