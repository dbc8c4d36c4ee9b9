package spotpools

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Unchanged is the cloud of a dry run: it can be looked at, and answers every change
// with outcome.ErrPlanned.
func Unchanged(c Cloud) Cloud { return unchanged{c} }

type unchanged struct{ Cloud }

func (unchanged) Launch(context.Context, spotpool.Request) ([]string, time.Time, error) {
	return nil, time.Time{}, outcome.ErrPlanned
}

func (unchanged) Terminate(context.Context, string, []spotpool.Instance) ([]string, error) {
	return nil, outcome.ErrPlanned
}

func (unchanged) Tag(context.Context, string, []string, map[string]string) error {
	return outcome.ErrPlanned
}

func (unchanged) Untag(context.Context, string, []string, []string) error {
	return outcome.ErrPlanned
}
