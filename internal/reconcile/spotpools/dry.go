package spotpools

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Dry is a cloud that answers every change with outcome.ErrPlanned.
func Dry(c CloudReader) Cloud {
	return struct {
		CloudReader
		planned
	}{CloudReader: c}
}

// planned embeds no port: a change that it lacks does not compile.
type planned struct{}

func (planned) Launch(context.Context, spotpool.Request) ([]string, time.Time, error) {
	return nil, time.Time{}, outcome.ErrPlanned
}

func (planned) Terminate(context.Context, string, []spotpool.Instance) ([]string, error) {
	return nil, outcome.ErrPlanned
}

func (planned) Tag(context.Context, string, []string, map[string]string) error {
	return outcome.ErrPlanned
}

func (planned) Untag(context.Context, string, []string, []string) error {
	return outcome.ErrPlanned
}

// DryCluster is a cluster that answers every change with outcome.ErrPlanned.
func DryCluster(c NodeReader) Cluster {
	return struct {
		NodeReader
		planned
	}{NodeReader: c}
}

func (planned) MarkNode(context.Context, node.Node, string) error { return outcome.ErrPlanned }

func (planned) CordonNode(context.Context, node.Node, string) error {
	return outcome.ErrPlanned
}

func (planned) UncordonNode(context.Context, node.Node, string) error {
	return outcome.ErrPlanned
}

func (planned) DeleteNode(context.Context, node.Node, string) error {
	return outcome.ErrPlanned
}

func (planned) CreateToken(context.Context, node.BootstrapToken) error {
	return outcome.ErrPlanned
}

func (planned) TokenTaken(context.Context, node.BootstrapToken) (bool, error) {
	return false, outcome.ErrPlanned
}

func (planned) DeleteToken(context.Context, string) error { return outcome.ErrPlanned }

func (planned) Evict(context.Context, budget.Eviction) error { return outcome.ErrPlanned }
