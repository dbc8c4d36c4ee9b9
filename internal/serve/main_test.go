package serve_test

import (
	"flag"
	"os"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
)

func TestMain(m *testing.M) {
	flag.Parse()
	reconciletest.FewChecks(len(faults.Sample(make([]int, 15))))
	os.Exit(m.Run())
}
