package terminal_test

import (
	"slices"
	"testing"

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
