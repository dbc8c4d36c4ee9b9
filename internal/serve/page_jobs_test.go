package serve_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// TestFailedRequestsAreFirst: people see that a request failed, why, and who asked.
func TestFailedRequestsAreFirst(t *testing.T) {
	t.Parallel()
	d := teams(t)
	queue := d.Process().Jobs()
	for name, r := range map[string]request.Request{
		"robert": {Run: &request.Run{}},
		"annabel": {StockPool: &request.StockPool{
			Name: "late", Namespace: "ml", SpecName: "g1.1", Image: "registry.example.com/team/runtime:1", Memory: "16Gi", GPU: 1, Replicas: 1,
		}},
	} {
		if _, err := queue.Submit(context.Background(), r, name, ""); err != nil {
			t.Fatal(err)
		}
	}
	h := handler(d.Process(), users(t, newQueue()))
	wantIn(t, page(t, h, "/", "Authorization: Bearer admin"), "queued", "annabel", "robert")
	declared := stockpool.Declaration{
		Name: "late", Namespace: "ml", SpecName: "g1.1", Image: "registry.example.com/team/runtime:1", Memory: "16Gi", GPU: 1, Replicas: 1,
		AllocatedSelector: "session",
	}
	if _, err := d.Process().StockPools().Create(context.Background(), declared.WithDefaults(), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Process().Runner().Run(context.Background(), reconcile.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	h = handler(d.Process(), users(t, newQueue()))
	text := page(t, h, "/", "Authorization: Bearer admin")
	wantIn(t, text, "1 request failed.", "annabel", "failed", "stock_pool/ml/late")
	wantNotIn(t, text, "robert")
	if strings.Index(text, "Requests</h2>") > strings.Index(text, "Budgets</h2>") {
		t.Error("the failed request is below the budgets")
	}
	wantIn(t, page(t, h, "/teams/ml", "Authorization: Bearer reader"), "annabel")
	wantIn(t, page(t, h, "/stockpools/ml/late", "Authorization: Bearer reader"), "annabel")
	wantNotIn(t, page(t, h, "/teams/research", "Authorization: Bearer admin"), "annabel")
}
