package serve

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/explain"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/status"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// words are the texts of gpupool status and gpupool explain, in UTC: a page is for readers in any
// time zone.
type words struct{}

// Details returns the lines about each object.
func (words) Details(r reconcile.StatusReport) map[string][]string {
	return status.Details(r, time.UTC)
}

// Explanation returns an explanation as text.
func (words) Explanation(x reconcile.Explanation) string { return explain.Text(x, time.UTC) }
