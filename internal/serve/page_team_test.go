package serve_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

// TestTeamPageAnswersATenant who was only sent its address: who used the hours, when pods can run again, and
// why pods ended.
func TestTeamPageAnswersATenant(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	d.Declare(func(b *budget.Declaration) {
		b.Name, b.Selector = "team-ml", budget.Selector{Namespaces: []string{"ml"}}
		b.Enforce = budget.Enforcement{Action: budget.Evict, GracePeriod: "0s"}
	})
	owned := d.Cluster.Start("ml", "train-0", 4, func(p *gpu.Pod) { p.Owner = &ledger.Owner{Kind: "Job", Name: "train", UID: "1"} })
	d.Cluster.Start("ml", "notebook-0", 1)
	d.Cluster.Start("web", "other-0", 1)
	d.Run()
	d.Cluster.Step(30 * time.Minute)
	d.Cluster.Finish(owned)
	d.Cluster.Start("ml", "train-1", 4)
	for range 6 {
		d.Run()
		d.Cluster.Step(15 * time.Minute)
	}
	d.Run()
	h := handler(d.Process(), users(t, newQueue()))
	read := func() string { return page(t, h, "/teams/ml", "Authorization: Bearer reader") }
	text := read()
	for began := time.Now(); !strings.Contains(text, "GPU-hours by owner, as of"); text = read() {
		wantIn(t, text, `href="/budgets/team-ml"`, "load delay:2s")
		if time.Since(began) > 10*time.Second {
			t.Fatal("the usage by owner is never read")
		}
		time.Sleep(50 * time.Millisecond)
	}
	wantIn(t, text, "pods can run again from <time", "ml/Job/train", "(no owner) ml/train-1, ml/notebook-0", "Pods that budgets stopped in the last 7 days",
		`<th scope="row">ml/train-0</th>`, "its containers ended", "evicted by budget/team-ml", "ask those who run gpupool for a grant",
		"GPU-hours are used (125%) since <time")
	wantNotIn(t, text, "web/other-0")
}
