package main

import (
	"strings"
	"testing"
)

func TestWrongArguments(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"none":               {nil, "is not one of"},
		"an unknown command": {[]string{"sign"}, "is not one of"},
		"no version":         {[]string{"documents", "-commit", strings.Repeat("0", 40), "-date", "2026-11-22T18:00:00Z", "main.go"}, "version"},
		"a tag for a version": {
			[]string{"documents", "-version", "v0.1.0", "-commit", strings.Repeat("0", 40), "-date", "2026-11-22T18:00:00Z", "main.go"}, "version",
		},
		"no commit": {[]string{"documents", "-version", "0.1.0", "-commit", "none", "-date", "2026-11-22T18:00:00Z", "main.go"}, "commit"},
		"no binary": {
			[]string{"documents", "-version", "0.1.0", "-commit", strings.Repeat("0", 40), "-date", "2026-11-22T18:00:00Z", "main.go"}, "main.go",
		},
		"an image without archives":   {[]string{"image", t.TempDir()}, "linux"},
		"an image without a registry": {[]string{"push", "dist/image"}, "is not one of"},
		"an image of nothing":         {[]string{"push", t.TempDir(), "registry.example.com/gpupool:1.0"}, "index.json"},
	} {
		if err := run(t.Context(), tt.args); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
