package spotpool_test

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/soaktest"
)

func TestMain(m *testing.M) { soaktest.Main(m, 200, 10000) }
