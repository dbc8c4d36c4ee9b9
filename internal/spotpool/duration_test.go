package spotpool_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func TestDurations(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"15m": "15m", "90s": "1m30s", "1h30m": "1h30m", "60m": "1h", "1.5h": "1h30m", "0": "0s", "20h0m5s": "20h0m5s", "10h": "10h", "24h": "24h", "1d": "24h",
		"1w2h": "170h", "500ms": "500ms",
	} {
		d, err := spotpool.ParseDuration(text)
		if err != nil || d.String() != says {
			t.Errorf("ParseDuration(%q) = %s, %v; want %s", text, d, err, says)
		}
	}
	for _, text := range []string{"", "15", "-15m", "15 m", "m", "+1d", "forever", "9999999999h"} {
		if d, err := spotpool.ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q) = %s, want an error", text, d)
		}
	}
	var d spotpool.Duration
	for _, text := range []string{`15`, `"x"`, `null1`, `{}`} {
		if err := json.Unmarshal([]byte(text), &d); err == nil {
			t.Errorf("%s is read as %s, want an error", text, d)
		}
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"15m", "1h30m", "0s", "1ns", "-1s", "1.5h"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := spotpool.ParseDuration(text)
		if err != nil {
			return
		}
		if time.Duration(d) < 0 {
			t.Fatalf("ParseDuration(%q) = %s", text, d)
		}
		data, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var again spotpool.Duration
		if err := json.Unmarshal(data, &again); err != nil || again != d {
			t.Fatalf("ParseDuration(%q) = %s, which is read as %s, %v", text, d, again, err)
		}
	})
}
