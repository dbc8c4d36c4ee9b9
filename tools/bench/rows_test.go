//go:build unix

package bench

import (
	"fmt"
	"testing"
)

type figures map[string]float64

type run struct {
	name string
	do   func() figures
}

// compare lets runs take turns, so that a temporary load slows each of them. It reports the
// least figures of each, and the most memory, relative to the first one, and returns those of
// the first.
func compare(b *testing.B, runs ...run) (base figures) {
	b.Helper()
	const turns = 3
	rows := make([]figures, len(runs))
	for range turns {
		for n, run := range runs {
			took := run.do()
			for unit, value := range rows[n] {
				if unit == "peak-MB" {
					took[unit] = max(took[unit], value)
				} else {
					took[unit] = min(took[unit], value)
				}
			}
			rows[n] = took
		}
	}
	for n, run := range runs {
		report(b, run.name, rows[n], base)
		base = rows[0]
	}
	return base
}

// compareSettled is compare after two turns that don't count: they write journals and
// history.
func compareSettled(b *testing.B, runs ...run) {
	b.Helper()
	for range 2 {
		for _, run := range runs {
			run.do()
		}
	}
	compare(b, runs...)
}

// report prints a row, with its ratios to base, if any.
func report(b *testing.B, name string, row, base figures) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		b.ReportMetric(0, "ns/op") // which hides it
		for unit, value := range row {
			b.ReportMetric(value, unit)
		}
		for _, unit := range []string{"s", "cpu-s", "peak-MB"} {
			if row[unit] > 0 && base[unit] > 0 {
				b.ReportMetric(row[unit]/base[unit], unit+"/base")
			}
		}
	})
}

// at runs a benchmark at each size, or at a tenth of it with -short.
func at(b *testing.B, what string, sizes []int, measure func(b *testing.B, n int)) {
	b.Helper()
	for _, n := range sizes {
		if testing.Short() {
			n /= 10
		}
		b.Run(fmt.Sprintf("%s=%d", what, n), func(b *testing.B) { measure(b, n) })
	}
}

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
