package jobs_test

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

func TestMain(m *testing.M) { reconciletest.Main(m) }
