package spotpools_test

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

// world is a local CVM and a store, with what users and the cloud do to a pool.
type world struct {
	*reconciletest.World
	t *testing.T
}

func newWorld(t *testing.T, opts ...func(*cvmsim.Options)) *world {
	t.Helper()
	return &world{World: reconciletest.NewWorld(t, opts...), t: t}
}
