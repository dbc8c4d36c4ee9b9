// Package reconciletest is shared by the tests of runs and of the kinds. It has a world of a
// local CVM and a store, and a fixture of a cluster in memory and a store. Their processes can
// be killed at each effect. Helpers of one kind are in that kind's folder.
package reconciletest

import (
	"flag"
	"strconv"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/soaktest"
)

// Main runs a package's tests, more of them at once than there are processors:
// these wait for a local CVM most of the time.
func Main(m *testing.M) {
	flag.Parse()
	if p := flag.Lookup("test.parallel"); p.Value.String() == p.DefValue {
		_ = flag.Set("test.parallel", strconv.Itoa(24))
	}
	soaktest.Main(m, 15, 100) // a check is many runs, each with its files
}
