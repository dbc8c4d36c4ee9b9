package budgets_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
)

var (
	sharedUnlabeled    = reason.ReplicasUnknown("nvidia.com/gpu.replicas", "nvidia.com/gpu.shared")
	sharedWithoutLabel = sharedUnlabeled.String()
)

// TestAProblemOfAPodLastsAsLongAsThePod: the pod counts wrongly in all later runs, although a replay no longer shows it.
func TestAProblemOfAPodLastsAsLongAsThePod(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*fixture, string){
		"it is deleted": func(d *fixture, uid string) { d.Cluster.Remove(uid) },
		"it is solved": func(d *fixture, uid string) {
			p := d.Cluster.Pods[uid]
			p.Problems = nil
			d.Cluster.Changed(*p, false)
		},
	} {
		d := newFixture(t)
		d.Declare(plenty)
		other := d.Declare(plenty, func(b *budget.Declaration) {
			b.Name, b.Selector = "other", budget.Selector{Namespaces: []string{"web"}}
		})
		uid := d.Cluster.Start("ml", "train", 1, func(p *gpu.Pod) { p.Problems = reason.Reasons{sharedUnlabeled} })
		for minute := range 3 {
			r := d.Run()
			if texts := r.Budgets[len(r.Budgets)-1].Warnings.Texts(); len(texts) != 1 || texts[0] != "Pod ml/train: "+sharedWithoutLabel {
				t.Errorf("%s: run %d warns %q", name, minute, texts)
			}
			if len(r.Warnings) > 0 {
				t.Errorf("%s: run %d warns again %q", name, minute, r.Warnings)
			}
			if texts := r.Budgets[0].Warnings.Texts(); r.Budgets[0].Name != other.Name || len(texts) > 0 {
				t.Errorf("%s: run %d warns of a pod that %s does not count: %q", name, minute, r.Budgets[0].Name, texts)
			}
			d.Cluster.Step(time.Minute)
		}
		if texts := askedWarnings(t, d); !strings.Contains(texts, "Pod ml/train: "+sharedWithoutLabel) {
			t.Errorf("%s: usage warns %q", name, texts)
		}
		end(d, uid)
		d.Run()
		r := d.Run()
		if texts := slices.Concat(r.Warnings, r.Budgets[len(r.Budgets)-1].Warnings); len(texts) > 0 {
			t.Errorf("%s, and a run warns %q", name, texts)
		}
	}
}

func askedWarnings(t *testing.T, d *fixture) string {
	t.Helper()
	live, err := d.Process().Budgets().Ask(t.Context(), budgets.Question{Declaration: budget.Declaration{Window: "24h"}.WithDefaults()})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(live.Warnings.Texts(), "\n")
}
