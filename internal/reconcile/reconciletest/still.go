package reconciletest

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

// NewStillWorld returns an empty local CVM whose clock begins at a time, and only moves by
// Step. The time must be near the real one, which signatures are checked with.
func NewStillWorld(t testing.TB, begins time.Time, opts ...func(*cvmsim.Options)) *World {
	t.Helper()
	still := func(o *cvmsim.Options) { o.Clock = func() time.Time { return begins } }
	return &World{t: t, Sim: cvmsimtest.Start(t, append([]func(*cvmsim.Options){still}, opts...)...)}
}
