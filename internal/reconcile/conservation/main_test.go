package conservation_test

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// draws is how many random worlds the property is checked on, and seed which, so that a run
// can be repeated; -rapid.seed plays others. The race detector makes each take ten times as long: with it there are
// fewer, and make test plays all of them without it.
var draws = "1000"

const seed = "1"

func TestMain(m *testing.M) {
	flag.Parse()
	for name, value := range map[string]string{"rapid.checks": draws, "rapid.seed": seed} {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue {
			_ = flag.Set(name, value)
		}
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
