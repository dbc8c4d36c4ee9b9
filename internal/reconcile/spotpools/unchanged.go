package spotpools

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
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

// UnchangedCluster is the cluster of a dry run: it can be looked at, and answers every
// change with outcome.ErrPlanned.
func UnchangedCluster(c Cluster) Cluster { return unchangedCluster{c} }

type unchangedCluster struct{ Cluster }

func (unchangedCluster) MarkNode(context.Context, node.Node, string) error { return outcome.ErrPlanned }

func (unchangedCluster) CordonNode(context.Context, node.Node, string) error {
	return outcome.ErrPlanned
}

func (unchangedCluster) UncordonNode(context.Context, node.Node, string) error {
	return outcome.ErrPlanned
}

func (unchangedCluster) DeleteNode(context.Context, node.Node, string) error {
	return outcome.ErrPlanned
}

func (unchangedCluster) CreateToken(context.Context, node.BootstrapToken) error {
	return outcome.ErrPlanned
}

func (unchangedCluster) TokenTaken(context.Context, node.BootstrapToken) (bool, error) {
	return false, outcome.ErrPlanned
}

func (unchangedCluster) DeleteToken(context.Context, string) error { return outcome.ErrPlanned }

func (unchangedCluster) Evict(context.Context, budget.Eviction) error { return outcome.ErrPlanned }
