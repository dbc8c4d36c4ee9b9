package api

import (
	"context"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
)

// readerOf has the rights of a user of one namespace.
type readerOf string

func (r readerOf) Allow(_ context.Context, q access.Question) (bool, error) {
	return q.Namespace == string(r), nil
}

// TestPausedWorkloadsOfOtherNamespacesAreHidden: a budget whose selector was narrowed can still have paused them.
func TestPausedWorkloadsOfOtherNamespacesAreHidden(t *testing.T) {
	t.Parallel()
	v := &view{user: &access.User{Rights: readerOf("ml")}}
	list := []budget.PausedWorkload{{Workload: budget.Workload{Namespace: "web"}}, {Workload: budget.Workload{Namespace: "ml"}}}
	got, err := visible(t.Context(), v, budgets.Report{Paused: list})
	if err != nil || len(got.Paused) != 1 || got.Paused[0].Namespace != "ml" || list[0].Namespace != "web" {
		t.Errorf("it shows %+v (%v)", got.Paused, err)
	}
	old, err := visible(t.Context(), v, budgets.Description{Superseded: true, Report: budgets.Report{Paused: list}})
	if err != nil || len(old.Paused) > 0 {
		t.Errorf("after a change of its selector, it shows %+v (%v)", old.Paused, err)
	}
}

// TestNamesInTextsAreFound where texts name objects. Names that are ordinary words hide no other text:
// any tenant can take such a name.
func TestNamesInTextsAreFound(t *testing.T) {
	t.Parallel()
	v := &view{
		objects: map[string][]string{
			"its": {"stock_pool/research/its"}, "train": {"spot_pool/ap-singapore/train"}, "team-b": {"budget/team-b"}, "mine-1": {"budget/mine-1"},
		},
		known: map[string]bool{"stock_pool/research/its": false, "spot_pool/ap-singapore/train": false, "budget/team-b": false, "budget/mine-1": true},
	}
	for text, want := range map[string]bool{
		"usage reaches its limit, and pods train":         true,
		"it is also counted by mine-1":                    true,
		"it is also counted by team-b":                    false,
		"blocked by budget/team-b":                        false,
		"the spot pool train fits, and does not grow":     false,
		`the store has "train"`:                           false,
		"gpupool explain train shows why":                 false,
		"see stock_pool/research/its for the reason":      false,
		"team-b's limit":                                  false,
		"the pods of ap-singapore/train are not counted.": false,
	} {
		if got, err := v.seesText(t.Context(), text); got != want || err != nil {
			t.Errorf("%q is shown: %v (%v)", text, got, err)
		}
	}
}
