// Package reconciletest is what the tests of a run and of its kinds share: a world
// of a local CVM and a store, a fixture of a cluster in memory and a store, and
// processes that can be killed at each of their effects. What only one kind's tests
// do to their world is in that kind's folder.
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
	// A check of a property is many runs, each with its files.
	if p := flag.Lookup("rapid.checks"); p != nil && p.Value.String() == p.DefValue {
		_ = flag.Set("rapid.checks", map[bool]string{false: "15", true: "100"}[faults.Every()])
	}
	// What a test leaves is little, and soon gone: memory is cheaper than cleaning up often.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
