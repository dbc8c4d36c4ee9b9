package reconciletest

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

// NewStillWorld is an empty local CVM whose clock begins at a time, and moves by Step
// alone. The time has to be about that of now: signatures are judged by it.
func NewStillWorld(t testing.TB, begins time.Time, opts ...func(*cvmsim.Options)) *World {
	t.Helper()
	still := func(o *cvmsim.Options) { o.Clock = func() time.Time { return begins } }
	return &World{t: t, Sim: cvmsimtest.Start(t, append([]func(*cvmsim.Options){still}, opts...)...)}
}
