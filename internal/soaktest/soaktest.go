// Package soaktest decides how much of a long test is played. make test plays a fixed sample of
// properties, fault matrices and random worlds, so that it finds the same each time. make soak plays
// all of them, with the seed that it prints. No code outside of tests may import it.
package soaktest

import (
	"flag"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
)

// sampled is which of the rows of a matrix are played in a sample: every seventh. It is a prime, so
// that a sample has every value of each dimension.
const sampled = 7

// seed is that of a soak, as make soak SEED=N passes it; empty for a sample.
var seed = os.Getenv("GPUPOOL_SOAK")

// On reports whether all is played, and not only a sample.
func On() bool { return seed != "" }

// Sample returns the rows of a matrix to play: a fixed sample of them, or all in a soak.
func Sample[T any](rows []T) []T {
	if On() {
		return rows
	}
	var some []T
	for n := 0; n < len(rows); n += sampled {
		some = append(some, rows[n])
	}
	return some
}

// Main runs the tests of a package that checks properties; see Properties.
func Main(m *testing.M, sample, soak int) {
	flag.Parse()
	Properties(sample, soak)
	CollectSeldom()
	os.Exit(m.Run())
}

// CollectSeldom lets garbage collect seldom: a test leaves little, and ends soon.
func CollectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// Properties sets how often rapid checks each property of this process. In a sample the seed is
// fixed. In a soak it is that of the soak. Flags on the command line win. Call it after flag.Parse.
func Properties(sample, soak int) {
	checks, by := strconv.Itoa(sample), "1"
	if On() {
		checks, by = strconv.Itoa(soak), seed
	}
	for name, value := range map[string]string{"rapid.checks": checks, "rapid.seed": by} {
		if f := flag.Lookup(name); f != nil && f.Value.String() == f.DefValue {
			_ = flag.Set(name, value)
		}
	}
}
