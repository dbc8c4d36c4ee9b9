package cli

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/explain"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/status"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	web "github.com/gpupool/terraform-provider-gpupool/internal/serve/page"
)

// pageWords are the texts of gpupool status and gpupool explain.
type pageWords struct{}

// Details returns the lines about objects.
func (pageWords) Details(r reconcile.StatusReport, tenant bool) (list []web.Section) {
	for _, s := range status.Details(r, tenant) {
		list = append(list, web.Section{Objects: s.Objects, Lines: s.Lines})
	}
	return list
}

// Explanation returns an explanation as text.
func (pageWords) Explanation(x reconcile.Explanation, tenant bool) string {
	return explain.PageText(x, tenant)
}
