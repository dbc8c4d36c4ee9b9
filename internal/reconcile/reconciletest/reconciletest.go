// Package reconciletest is shared by the tests of runs and of the kinds. It has a world of a
// local CVM and a store, and a fixture of a cluster in memory and a store. Their processes can
// be killed at each effect. Helpers of one kind are in that kind's folder.
package reconciletest

import (
	"flag"
	"os"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
)

// Main runs a package's tests, more of them at once than there are processors:
// these wait for a local CVM most of the time.
func Main(m *testing.M) {
	flag.Parse()
	if p := flag.Lookup("test.parallel"); p.Value.String() == p.DefValue {
		_ = flag.Set("test.parallel", strconv.Itoa(24))
	}
	FewChecks(fewChecks)
	// Tests leave little garbage, and end soon: memory is cheaper than frequent collections.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}

const fewChecks = 15

// FewChecks sets how often rapid checks a property, unless its flag does. A check is many runs, each
// with its files. Call it after flag.Parse.
func FewChecks(checks int) {
	if p := flag.Lookup("rapid.checks"); p != nil && p.Value.String() == p.DefValue {
		_ = flag.Set("rapid.checks", map[bool]string{false: strconv.Itoa(checks), true: "100"}[faults.Every()])
	}
}
