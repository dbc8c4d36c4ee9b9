package reconcile_test

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// TestMain lets more tests run at once than there are processors: these wait for
// a local CVM most of the time.
func TestMain(m *testing.M) {
	flag.Parse()
	if p := flag.Lookup("test.parallel"); p.Value.String() == p.DefValue {
		_ = flag.Set("test.parallel", strconv.Itoa(24))
	}
	// A check of a property is many runs, each with its files.
	if p := flag.Lookup("rapid.checks"); p.Value.String() == p.DefValue {
		_ = flag.Set("rapid.checks", "40")
	}
	os.Exit(m.Run())
}
