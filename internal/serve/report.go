package serve

import (
	"context"
	"log/slog"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/page"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/snapshot"
)

// Report returns the page of a world as one file, as the operator sees it.
func Report(ctx context.Context, w reconcile.World, words page.Words, version string) ([]byte, error) {
	operator, err := access.Operator{}.Authenticate(ctx, "")
	if err != nil {
		return nil, err
	}
	reader := api.NewReader(api.Options{Source: snapshot.New(w), Version: version})
	return page.Report(access.WithUser(ctx, operator), page.Options{Reader: reader, Words: words, Version: version, Log: slog.New(slog.DiscardHandler)})
}
