package decide_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain tries properties more often than is usual: what they look for takes
// several things to come together, and a try takes a millisecond.
func TestMain(m *testing.M) {
	flag.Parse()
	if p := flag.Lookup("rapid.checks"); p.Value.String() == p.DefValue {
		_ = flag.Set("rapid.checks", "1000")
	}
	os.Exit(m.Run())
}
