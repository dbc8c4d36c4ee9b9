package cli

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/explain"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/status"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// pageWords are the texts of gpupool status and gpupool explain, in UTC: a page is for readers in any
// time zone.
type pageWords struct{}

// Details returns the lines about each object.
func (pageWords) Details(r reconcile.StatusReport) map[string][]string {
	return status.Details(r, time.UTC)
}

// Explanation returns an explanation as text.
func (pageWords) Explanation(x reconcile.Explanation) string { return explain.Text(x, time.UTC) }
