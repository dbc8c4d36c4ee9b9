package duration_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
)

const day = 24 * time.Hour

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "90s": 90 * time.Second, "15m": 15 * time.Minute, "1h30m": 90 * time.Minute, "1.5h": 90 * time.Minute, ".5h": 30 * time.Minute,
		"500ms": 500 * time.Millisecond, "3us": 3 * time.Microsecond, "3µs": 3 * time.Microsecond, "24h": day, "1d": day, "7d": 7 * day,
		"1d12h": 36 * time.Hour, "2w": 14 * day, "1w1d1h1m1s": 8*day + time.Hour + time.Minute + time.Second, "007d": 7 * day,
		"106751d23h47m16.854775807s": math.MaxInt64,
	} {
		if got, err := duration.Parse(text); err != nil || got != want {
			t.Errorf("Parse(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "15", "-15m", "+15m", "-7d", "15 m", " 15m", "15m\n", "m", "d", "w", ".h", ".s5h", "1.5d", "24h7d", "1d1w", "1d1d", "1w1w", "1y", "forever", "٣h",
		"1e3s", "1d-1h", "1d+1h",
	} {
		if got, err := duration.Parse(text); err == nil || errors.Is(err, duration.ErrTooLong) {
			t.Errorf("Parse(%q) = %s, %v; want no duration", text, got, err)
		}
	}
	for _, text := range []string{"9999999999h", "106752d", "99999999999999999999d", "15251w", "106751d24h", "15250w7d"} {
		if got, err := duration.Parse(text); !errors.Is(err, duration.ErrTooLong) {
			t.Errorf("Parse(%q) = %s, %v; want too long", text, got, err)
		}
	}
}

func TestWriting(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration][2]string{
		0: {"0s", "0s"}, 15 * time.Minute: {"15m", "15m"}, 90 * time.Second: {"1m30s", "1m30s"}, 20*time.Hour + 5*time.Second: {"20h0m5s", "20h0m5s"},
		10 * time.Hour: {"10h", "10h"}, day: {"24h", "1d"}, 7 * day: {"168h", "7d"}, 36 * time.Hour: {"36h", "36h"},
	} {
		if got := [2]string{duration.String(d), duration.Words(d)}; got != want {
			t.Errorf("%d is written %q, want %q", d, got, want)
		}
	}
}

// FuzzParse: what is read is written, in either form, as what is read again the
// same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"15m", "1h30m", "0", "1ns", "-1s", "1.5h", "7d", "1w2d3h", "99999999999999999999d", "106751d23h47m16.854775807s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := duration.Parse(text)
		if err != nil {
			return
		}
		if d < 0 {
			t.Fatalf("Parse(%q) = %s", text, d)
		}
		for _, written := range []string{duration.String(d), duration.Words(d)} {
			if again, err := duration.Parse(written); err != nil || again != d {
				t.Fatalf("%q is %s, written %q, and read again %s, %v", text, d, written, again, err)
			}
		}
	})
}
