package main

import (
	"strings"
	"testing"
)

func TestWhatItIsToldWrongly(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"nothing":                {nil, "tell it"},
		"something else":         {[]string{"sign"}, "tell it"},
		"a platform of nobody's": {[]string{"build", "-only", "plan9/amd64"}, "plan9/amd64"},
		"an image to nowhere":    {[]string{"push", "dist/image"}, "tell it"},
		"an image of nothing":    {[]string{"push", t.TempDir(), "registry.example.com/gpupool:1.0"}, "index.json"},
	} {
		if err := run(t.Context(), tt.args); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
