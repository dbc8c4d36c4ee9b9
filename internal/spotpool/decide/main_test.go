package decide_test

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/soaktest"
)

// TestMain tries properties more often than is usual: what they look for takes
// several things to come together, and a try takes a millisecond.
func TestMain(m *testing.M) { soaktest.Main(m, 200, 10000) }
