package terminal_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line  string
		width int
		want  []string
	}{
		{"one two three", 0, []string{"one two three"}},
		{"one two three", 13, []string{"one two three"}},
		{"one two three", 12, []string{"one two", "  three"}},
		{"  one two three", 9, []string{"  one two", "  three"}},
		{"one-that-is-long two", 8, []string{"one-th", "  at-is-", "  long", "  two"}},
		{"\x1b[31mone\x1b[0m two three", 7, []string{"\x1b[31mone\x1b[0m two", "  three"}},
	} {
		if got := terminal.Wrap(tt.line, tt.width, "  "); !slices.Equal(got, tt.want) {
			t.Errorf("%q in %d: %q, want %q", tt.line, tt.width, got, tt.want)
		}
	}
}

func TestTablesFit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		width int
		spare []string
		want  []string
	}{
		"wide":               {80, nil, []string{"NAME     PODS  STATE", "ml/pool  2     Exceeded and paused"}},
		"columns go first":   {30, []string{"PODS"}, []string{"NAME     STATE", "ml/pool  Exceeded and paused"}},
		"then cells wrap":    {22, []string{"PODS"}, []string{"NAME     STATE", "ml/pool  Exceeded and", "         paused"}},
		"and no word is cut": {5, []string{"PODS"}, []string{"NAME     STATE", "ml/pool  Exceeded", "         and", "         paused"}},
	} {
		var table terminal.Table
		table.Add("NAME", "PODS", "STATE")
		table.Add("ml/pool", "2", "Exceeded and paused")
		table.Fit(tt.width, tt.spare...)
		if got := table.Lines(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestParseMoment(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 14, 32, 0, 0, time.UTC)
	for s, want := range map[string]time.Time{
		"06:00": now.Add(15*time.Hour + 28*time.Minute), "14:32": now.AddDate(0, 0, 1), "14:33": now.Add(time.Minute),
		"2026-11-23": time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC),
	} {
		if got, ok := terminal.ParseMoment(s, now, time.UTC, true); !ok || !got.Equal(want) {
			t.Errorf("the next %s is %s, want %s", s, got, want)
		}
	}
	if got, ok := terminal.ParseMoment("6", now, time.UTC, true); ok {
		t.Errorf("6 is %s", got)
	}
}
